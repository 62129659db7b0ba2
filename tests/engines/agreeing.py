"""What two engines must agree on: the whole library and the report, cell by cell."""

import importlib.util
import math
import os
from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

from stepscope import library, report
from stepscope.presenters import markdown, terminal
from stepscope.session.trace import OpenTrace
from tests.tiers import ALL

_LACKING = importlib.util.find_spec("pyspark") is None
takes_minutes = pytest.mark.skipif(
    "STEPSCOPE_TEST_ENGINES" not in os.environ or _LACKING,
    reason="a Spark cluster takes minutes: `make engines` starts one"
    + (" (not installed: pyspark)" if _LACKING else ""),
)
"""For tests that a change has no time for; the nightly workflow has."""
SAMPLES = (
    "run_metadata", "kineto", "profile", "profiler_hook", "graph", "chrome/horovod.json",
    "chrome/kineto_cuda.json", "chrome/phases.json", "capture/python_loop", "xplane/tf2_trace_on.xplane.pb",
)  # fmt: skip
"""Small ones of every kind: a lake of 1,100 slices."""
NEAR = 1e-12
"""How far apart doubles may be that were summed in another order, as a share."""


def asked() -> list[library.Entry]:
    """What an engine is asked that takes seconds for each: analyses and findings, which read the base views;
    in a long run those too."""
    return [entry for entry in library.entries() if ALL or entry.kind != "base"]


def same(one: Any, other: Any) -> bool:
    """Equal cells. Doubles may differ in their last digits: sums of them depend on the order of the rows."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=NEAR, abs_tol=0.0) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and bool(one == other)


def _rows(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> str:
    """Where rows differ; empty where they do not."""
    if len(one) != len(other):
        return f"{len(one)} rows and {len(other)}"
    for number, (row, found) in enumerate(zip(one, other, strict=True)):
        if not all(map(same, row, found)):
            return f"row {number}: {row} and {found}"
    return ""


def same_sentences(wanted: OpenTrace, found: OpenTrace) -> bool:
    """Whether two engines give the same summary on a terminal and the same report, to the letter. Each is
    asked once: that takes minutes."""
    reports = [report.build(trace, all=True) for trace in (wanted, found)]
    screen = partial(terminal.render, width=100, height=40, color=False, everything=True)
    assert len(markdown.render(reports[0]).splitlines()) > 40
    return all(render(reports[0]) == render(reports[1]) for render in (screen, markdown.render))


def differences(
    wanted: OpenTrace, found: OpenTrace, entries: Iterable[library.Entry]
) -> tuple[dict[str, str], int]:
    """Where two engines answer differently, by entry of the library, and how many cells were compared.

    In the same order where the file has one: base views have none."""
    different: dict[str, str] = {}
    cells = 0
    for entry in entries:
        one, other = wanted.ask(entry), found.ask(entry)
        rows = [one.rows(), other.rows()]
        if entry.kind == "base":
            rows = [sorted(some, key=repr) for some in rows]
        cells += len(rows[0]) * len(one.columns)
        if one.columns != other.columns:
            different[entry.name] = f"columns {one.columns} and {other.columns}"
        elif seen := _rows(*rows):
            different[entry.name] = seen
    return different, cells

"""The reports of the command line, as the JSON that it prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stepscope.errors import NothingFound
from stepscope.instruments.compare.figures import measure
from stepscope.instruments.compare.sides import each
from stepscope.instruments.pipeline.diagnoses import find, otherwise
from stepscope.presenters import json
from stepscope.report import build, comparing, memory_answer
from stepscope.report import pipeline as pipelines_report

if TYPE_CHECKING:
    from stepscope.instruments.pipeline.diagnoses import SourcePipelines
    from stepscope.session.trace import OpenTrace


def summary(trace: OpenTrace) -> bytes:
    """Where the time went."""
    return json.render(build(trace, all=True)).encode("ascii")


def first(trace: OpenTrace) -> bytes:
    """Where the time went, as the terminal says it, and the parts of each step for their chart: from tables
    that do not grow with the slices."""
    return json.render(build(trace, by_step=True)).encode("ascii")


def pipelines(trace: OpenTrace) -> list[SourcePipelines]:
    """The input pipelines, in the order of their report."""
    return pipelines_report.ordered(find(trace.query))


def pipeline(found: list[SourcePipelines], trace: OpenTrace) -> bytes:
    """The input pipelines as a report."""
    report = pipelines_report.build(found, *otherwise(trace.query, found))
    return json.render(report).encode("ascii")


def memory(trace: OpenTrace) -> bytes:
    """Memory: the peak, and who holds it."""
    return json.render(memory_answer.build(trace)).encode("ascii")


def compared(a: int, b: int, trace: OpenTrace) -> bytes:
    """Two hosts of the trace side by side, by their places among all. NothingFound when there are fewer."""
    found = each(trace.query)
    if max(a, b) >= len(found):
        raise NothingFound(
            "There is no such recording to compare.",
            seen=f"{a} and {b} of {len(found)}",
            todo="serve two recordings: stepscope serve A B",
        )
    built = comparing.build(measure(found[a]), measure(found[b]))
    return json.render(built).encode("ascii")


def sides(trace: OpenTrace) -> dict[str, Any]:
    """What can be compared."""
    return {"sides": [side.name for side in each(trace.query)]}


REPORTS: dict[str, Callable[[OpenTrace], bytes]] = {"first": first, "summary": summary, "memory": memory}

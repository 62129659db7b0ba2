"""Two programs side by side, and whether one is slower: `stepscope.diff()` and `stepscope.check()`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from stepscope.errors import NothingFound, UnreadableSource
from stepscope.instruments.compare import budgets, figures, gate, recordings, sides
from stepscope.objects.report_views import ReportView
from stepscope.objects.trace import flat
from stepscope.report import comparing, gating
from stepscope.session import trace

if TYPE_CHECKING:
    from stepscope.instruments.compare.figures import Measured
    from stepscope.instruments.compare.recordings import RecordedRun

Path = str | PathLike[str]


class Comparison(ReportView):
    """Two recordings side by side. See `stepscope.diff`."""

    _kind = "comparison"


class Check(ReportView):
    """Whether a change made a program slower. See `stepscope.check`."""

    _kind = "comparison"

    @property
    def verdict(self) -> Literal["regression", "no_regression", "unknown"]:
        """The answer; unknown where the recordings do not tell, as where they are few."""
        found: Literal["regression", "no_regression", "unknown"] = self.report.document["verdict"]
        return found


def diff(a: Path, b: Path, *, cache: bool = True) -> Comparison:
    """What differs between two recordings: steps, parts, ops, stages, memory. Of several runs under a path it
    is the one whose steps take most time.

    >>> import stepscope
    >>> found = stepscope.diff("tests/samples/capture/slow_map", "tests/samples/capture/python_loop")
    >>> found.title
    'slow_map (A) and python_loop (B)'

    NothingFound for a path that holds no run with times.
    """
    found = [_measured(fspath(path), cache) for path in (a, b)]
    if bool(found[0].steps) != bool(found[1].steps):
        found = [_measured(fspath(path), cache, with_steps=False) for path in (a, b)]
    if found[0].name == found[1].name:
        found = [replace(measured, name=fspath(path)) for measured, path in zip(found, (a, b), strict=True)]
    return Comparison(comparing.build(*found))


def _measured(path: str, cache: bool, with_steps: bool = True) -> Measured:
    with trace.open(path, cache=cache) as opened:
        run_sides = [] if sides.only_programs(opened.query) else sides.runs(opened.query)
        if not run_sides:
            raise NothingFound(
                "There is no run to compare",
                seen=f"nothing with times in {path}",
                todo="give recordings of a program's steps",
                path=path,
            )
        return figures.measure(run_sides[0], with_steps=with_steps)


def check(
    baseline: Path | Collection[Path],
    candidate: Path | Collection[Path],
    *,
    budget: Mapping[str, Any] | None = None,
    counts: bool = False,
    cache: bool = True,
) -> Check:
    """Whether a candidate is slower than its baseline, by more than recordings of one program differ.

    baseline, candidate: recordings, or folders and lakes of several; time is judged from four of each on.
    budget: what a budget file holds, such as {"limits": {"ops_per_step": "+0"}}. counts: compare nothing that
    has noise.

    >>> import stepscope
    >>> same = "tests/samples/capture/slow_map"
    >>> stepscope.check(same, same).verdict
    'unknown'
    >>> stepscope.check(same, same, counts=True).verdict
    'no_regression'

    UnreadableSource when one of the recordings cannot be read: it must not pass.
    """
    allowed = budgets.Budget() if budget is None else budgets.parse(dict(budget))
    before, after = (_recordings(list(flat([side])), cache) for side in (baseline, candidate))
    return Check(gating.build(gate.judge(before, after, allowed, counts)))


def _recordings(paths: list[str], cache: bool) -> list[RecordedRun]:
    found: list[RecordedRun] = []
    for path in paths:
        with trace.open(path, cache=cache) as opened:
            mine, bad = recordings.read(opened.query, path)
        if bad:
            raise UnreadableSource(
                "Some recordings cannot be read, so nothing is compared",
                seen=f"{bad[0].path}: {bad[0].why}",
                todo="record those again, or leave them out",
                path=bad[0].path,
            )
        found += mine
    if not found:
        raise NothingFound(
            "There is no run to compare",
            seen=", ".join(paths) or "no path",
            todo="give recordings of a program's steps",
        )
    return recordings.sort_by_time(found)

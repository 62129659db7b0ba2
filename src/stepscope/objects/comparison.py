"""Two programs side by side, and whether one is slower: `stepscope.diff()` and `stepscope.check()`."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from typing import Any

from stepscope.instruments.compare.gate import Verdict
from stepscope.objects.report_views import ReportView
from stepscope.objects.trace import flat
from stepscope.report import comparing, gate_recordings, gating
from stepscope.report.compared_sides import ComparedSide, comparable, measured_sides, need_time
from stepscope.report.gate_recordings import no_run
from stepscope.session import trace

Path = str | PathLike[str]


class Comparison(ReportView):
    """Two recordings side by side. See `stepscope.diff`."""

    _kind = "comparison"


class Check(ReportView):
    """Whether a change made a program slower. See `stepscope.check`."""

    _kind = "comparison"

    @property
    def verdict(self) -> Verdict:
        """The answer; unknown where the recordings do not tell, as where they are few."""
        found: Verdict = self.report.document["verdict"]
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
    sides = comparable(lambda with_steps: [_side(fspath(path), cache, with_steps) for path in (a, b)])
    found = [side.measured for side in sides]
    if found[0].name == found[1].name:
        found = [replace(measured, name=fspath(path)) for measured, path in zip(found, (a, b), strict=True)]
    return Comparison(comparing.build(*found))


def _side(path: str, cache: bool, with_steps: bool) -> ComparedSide:
    with trace.open(path, cache=cache) as opened:
        need_time(opened)
        run_sides = measured_sides(opened.query, [None], path, lambda _: None, with_steps)
        if not run_sides:
            raise no_run(f"nothing with times in {path}", path)
        return run_sides[0]


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
    allowed = gating.budget_of(None if budget is None else dict(budget))
    opened = partial(trace.open, cache=cache)
    before, after = (gate_recordings.read(list(flat([side])), opened) for side in (baseline, candidate))
    return Check(gating.check(before, after, allowed, counts))

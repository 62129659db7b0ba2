"""Change points: when a figure changed, over recordings of one program in order of time.

The point that parts a series best is found by the energy statistic of e-divisive means, which knows no
distribution. Whether it is more than noise is Student's t, so the answer is the same each time. Every place
of every series that is tried counts as a test.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from stepscope.instruments.compare import statistics
from stepscope.instruments.compare.budgets import Budget
from stepscope.instruments.compare.recordings import EXACT, LOW, RecordedRun, low_figure

LEAST_RECORDINGS = 20
"""With fewer recordings, a change cannot be told from a few odd ones."""
MOST_RECORDINGS = 300
"""The last ones of a longer history."""
_LEAST_SIDE = 4


@dataclass(frozen=True)
class ChangePoint:
    """A figure that is another one from some recording on."""

    figure: str
    unit: str
    at: int
    """The first recording that has the new value; a place in the history."""
    before: float
    """Medians of the recordings on both sides, up to the next change."""
    after: float
    p: float
    """Probability of that by chance, with all places and figures that were tried."""


@dataclass(frozen=True)
class History:
    """Recordings in their order, and what changed."""

    recordings: tuple[RecordedRun, ...]
    changes: tuple[ChangePoint, ...]
    figures: int
    """Figures that were looked at."""
    left_out: int = 0
    """Older recordings that were not looked at."""


def find(recordings: Sequence[RecordedRun], budget: Budget) -> History:
    """The changes of all figures, by time."""
    kept = recordings[-MOST_RECORDINGS:]
    series = _series(kept, budget)
    found: list[ChangePoint] = []
    if len(kept) >= LEAST_RECORDINGS:
        for (name, unit), points in series.items():
            places = [place for place, _ in points]
            logs = [math.log(value) for _, value in points]
            cuts = change_points(logs, budget.alpha / max(1, len(series)), math.log1p(budget.minimum_effect))
            ends = [0, *(cut for cut, _ in cuts), len(logs)]
            for number, (cut, p) in enumerate(cuts):
                before = median(value for _, value in points[ends[number] : cut])
                after = median(value for _, value in points[cut : ends[number + 2]])
                found.append(ChangePoint(name, unit, places[cut], before, after, min(1.0, p * len(series))))
    found.sort(key=lambda point: (point.at, point.p, point.figure))
    return History(tuple(kept), tuple(found), len(series), len(recordings) - len(kept))


def _series(
    recordings: Sequence[RecordedRun], budget: Budget
) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Figures by name and unit: the recordings that have them, with values above 0."""
    found: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    lows: dict[str, dict[int, float]] = defaultdict(dict)
    for place, run in enumerate(recordings):
        for name, unit in EXACT.items():
            if run.exact.get(name):
                found[name, unit].append((place, run.exact[name]))
        for share, name in ((LOW, "step, 10th percentile"), (0.5, "step, median")):
            if figure := run.step_figure(share):
                found[name, "ps"].append((place, figure))
        for key, series in run.ops.items():
            if figure := low_figure([series], run.steps):
                lows[key[1]][place] = figure
    found.update(_op_figures(lows, len(recordings), budget))
    return {
        key: points
        for key, points in found.items()
        if len(points) >= 2 * _LEAST_SIDE and len({value for _, value in points}) > 1
    }


def _op_figures(
    lows: Mapping[str, Mapping[int, float]], recordings: int, budget: Budget
) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Figures of the ops that take enough of the time. lows: their figures by name and recording."""
    weights: Mapping[str, float] = {
        name: median([*figures.values(), *[0.0] * (recordings - len(figures))])
        for name, figures in lows.items()
    }
    whole = sum(weights.values()) or 1
    return {
        (name, "ps"): sorted(figures.items())
        for name, figures in lows.items()
        if weights[name] / whole >= budget.least_share and not budget.rule([name]).ignore
    }


def change_points(values: Sequence[float], alpha: float, least: float = 0.0) -> list[tuple[int, float]]:
    """Where the level of a series changes: the first place with the new level, and the probability of such a
    point anywhere by chance. least: smaller changes of the mean are none."""
    tried = max(1, len(values) - 2 * _LEAST_SIDE + 1)
    found: list[int] = []

    def search(low: int, high: int) -> None:
        cut = best_cut(values[low:high])
        if cut is None:
            return
        test = statistics.student(values[low : low + cut], values[low + cut : high])
        if test.p * tried > alpha or abs(test.difference) < least:
            return
        found.append(low + cut)
        search(low, low + cut)
        search(low + cut, high)

    search(0, len(values))
    # A point can lose its reason once its neighbours are known: the weakest goes first.
    while found:
        found.sort()
        ends = [0, *found, len(values)]
        tests = [
            statistics.student(values[ends[i] : ends[i + 1]], values[ends[i + 1] : ends[i + 2]])
            for i in range(len(found))
        ]
        weakest = max(range(len(found)), key=lambda i: (tests[i].p, -abs(tests[i].difference)))
        if tests[weakest].p * tried <= alpha and all(abs(test.difference) >= least for test in tests):
            return [(cut, min(1.0, test.p * tried)) for cut, test in zip(found, tests, strict=True)]
        small = [i for i, test in enumerate(tests) if abs(test.difference) < least]
        del found[small[0] if small else weakest]
    return []


def best_cut(values: Sequence[float]) -> int | None:
    """The place at which a series falls apart most into two of different distributions; None for a series
    that is too short, or the same everywhere."""
    size = len(values)
    if size < 2 * _LEAST_SIDE:
        return None
    within_first = cross = 0.0
    within_second = sum(abs(values[i] - values[j]) for i in range(size) for j in range(i))
    best: tuple[float, int] | None = None
    for cut in range(1, size - _LEAST_SIDE + 1):
        moved = values[cut - 1]
        to_first = sum(abs(moved - other) for other in values[: cut - 1])
        to_second = sum(abs(moved - other) for other in values[cut:])
        within_first += to_first
        within_second -= to_second
        cross += to_second - to_first
        if cut < _LEAST_SIDE:
            continue
        n, m = cut, size - cut
        energy = (2 * cross / (n * m) - 2 * within_first / (n * n) - 2 * within_second / (m * m)) * (
            n * m / (n + m)
        )
        if best is None or energy > best[0] * (1 + 1e-12):
            best = (energy, cut)
    return best[1] if best is not None and best[0] > 0 else None

"""The gate: whether a candidate is slower than its baseline, by more than its recordings differ.

The unit is the recording. Of each recording an op has one robust figure; Student's t compares their
logarithms, because noise multiplies; Benjamini and Hochberg keep the share of false findings among all that
are found. A change counts when the interval of its shift lies beyond the smallest effect that is wanted, and
when it is large beside what recordings of one side differ by. What cannot be judged is said with the reason.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Literal

from stepscope.instruments.compare import budgets, statistics
from stepscope.instruments.compare.budgets import Budget, Kept
from stepscope.instruments.compare.matching import NamedItem, Scope, match
from stepscope.instruments.compare.recordings import LOW, Key, RecordedRun, Series, low_figure
from stepscope.instruments.compare.timed_figures import (
    LEAST_RECORDINGS,
    MOST_VARIATION,
    FigureSamples,
    TimedFigure,
    tested_figures,
)

SAME_PROGRAM = 0.5
"""With less of the ops' time matched, on either side, two programs are not versions of one."""


Reason = Literal[
    "few_recordings", "no_steps", "few_steps", "different_programs", "noise", "unclear", "missing", "nothing"
]


Verdict = Literal["regression", "no_regression", "unknown"]


@dataclass(frozen=True)
class Judged:
    """What a gate says."""

    baseline: tuple[RecordedRun, ...]
    candidate: tuple[RecordedRun, ...]
    budget: Budget
    limits: tuple[Kept, ...]
    timed: tuple[TimedFigure, ...]
    """Ops and parts by their share, then steps."""
    variation: float | None
    """Coefficient of variation of the baseline's steps (10th percentiles); None with fewer than two."""
    matched: tuple[float | None, float | None]
    """Part of the ops' time of each side whose names the other side has."""
    judged_share: float | None
    """Part of the ops' time in ops of which a change of budget.can_see would have been seen."""
    added: tuple[tuple[str, float], ...]
    """Ops that only the candidate has, with their share."""
    removed: tuple[tuple[str, float], ...]
    reasons: tuple[Reason, ...]
    """Why no verdict of "no regression" is possible; empty when one is."""
    missing: tuple[str, ...] = ()
    """Figures with a limit that the candidate's recordings do not know."""
    shorter: tuple[float, float] | None = None
    """Median steps of the baseline and the candidate, where the candidate's are shorter beyond doubt."""

    @property
    def slower(self) -> list[TimedFigure]:
        """What became slower."""
        return [figure for figure in self.timed if figure.status == "slower"]

    @property
    def exceeded(self) -> list[Kept]:
        """Limits that were exceeded."""
        return [limit for limit in self.limits if limit.status == "exceeded"]

    @property
    def verdict(self) -> Verdict:
        """The answer."""
        if self.slower or self.exceeded:
            return "regression"
        return "unknown" if self.reasons else "no_regression"


def judge(
    baseline: Sequence[RecordedRun],
    candidate: Sequence[RecordedRun],
    budget: Budget,
    counts_only: bool = False,
) -> Judged:
    """Compares two sides. counts_only: nothing with noise."""
    limits = budgets.check(baseline, candidate, budget)
    missing = budgets.missing(candidate, budget)
    shorter = None if counts_only else _shorter(baseline, candidate)
    if shorter is not None:
        limits = budgets.paid(limits, budget)
    reasons: list[Reason] = []
    if any(limit.status == "unclear" for limit in limits):
        reasons.append("unclear")
    if missing:
        reasons.append("missing")
    figures: list[FigureSamples] = []
    matched: tuple[float | None, float | None] = (None, None)
    added: list[tuple[str, float]] = []
    removed: list[tuple[str, float]] = []
    if baseline:
        figures, matched, added, removed = _op_figures(baseline, candidate, budget)
        if any(share is not None and share < SAME_PROGRAM for share in matched):
            reasons.append("different_programs")
    timed: list[TimedFigure] = []
    judged_share = variation = None
    if not counts_only and baseline:
        figures += [*_part_figures(baseline, candidate, budget), *_step_figures(baseline, candidate)]
        variation = _variation(baseline)
        timed = tested_figures(figures, budget, variation)
        judged_share = _judged_share(timed, budget)
        reasons += _doubts(baseline, candidate, timed, judged_share, budget)
    if not limits and not timed and not reasons:
        reasons.append("nothing")
    return Judged(
        *(tuple(baseline), tuple(candidate), budget, tuple(limits), tuple(timed), variation, matched),
        *(judged_share, tuple(added), tuple(removed), tuple(reasons), tuple(missing), shorter),
    )


def _shorter(baseline: Sequence[RecordedRun], candidate: Sequence[RecordedRun]) -> tuple[float, float] | None:
    """Median steps of both sides, where each recording of the candidate has shorter ones than any of the
    baseline, by more than recordings of one program vary. Less than that is for the tests to tell."""
    before = [run.step_figure(0.5) for run in baseline]
    after = [run.step_figure(0.5) for run in candidate]
    figures = [[figure for figure in side if figure is not None] for side in (before, after)]
    if not all(figures) or None in before or None in after:
        return None
    if max(figures[1]) >= (1 - MOST_VARIATION) * min(figures[0]):
        return None
    return median(figures[0]), median(figures[1])


def _doubts(
    baseline: Sequence[RecordedRun],
    candidate: Sequence[RecordedRun],
    timed: Sequence[TimedFigure],
    judged_share: float | None,
    budget: Budget,
) -> list[Reason]:
    """Why the time cannot be judged."""
    if any(all(not run.steps for run in side) for side in (baseline, candidate)):
        return ["no_steps"]
    if min(len(baseline), len(candidate)) < LEAST_RECORDINGS:
        return ["few_recordings"]
    enough = [sum(run.step_figure(LOW) is not None for run in side) for side in (baseline, candidate)]
    if min(enough) < LEAST_RECORDINGS:
        return ["few_steps"]
    if judged_share is not None and judged_share < budget.judged_share:
        return ["noise"]
    if judged_share is None and not any(figure.status != "unjudged" for figure in timed):
        return ["noise"]
    return []


def _op_figures(
    baseline: Sequence[RecordedRun], candidate: Sequence[RecordedRun], budget: Budget
) -> tuple[
    list[FigureSamples], tuple[float | None, float | None], list[tuple[str, float]], list[tuple[str, float]]
]:
    """Figures of the ops that matter, the part of time matched, and what only one side has."""
    sides = (baseline, candidate)
    items = (_items(baseline), _items(candidate))
    keys = (list(items[0]), list(items[1]))
    matched = match(*(list(side.values()) for side in items))
    means = (_means(baseline), _means(candidate))
    alone = ([keys[0][i] for i in matched.removed], [keys[1][i] for i in matched.added])
    groups: list[_Group] = [
        ([keys[0][i] for i in pair.a], [keys[1][i] for i in pair.b], pair.basis) for pair in matched.matches
    ]
    groups += _replaced(keys, (matched.removed, matched.added))
    shares = (_matched_share(means[0], alone[0]), _matched_share(means[1], alone[1]))
    added, removed = (_shares_alone(means[side], alone[side]) for side in (1, 0))
    return _figures(groups, sides, means, budget.least_share), shares, added, removed


_Group = tuple[list[Key], list[Key], str]
"""Ops of both sides that are one, and what that rests on."""


def _matched_share(means: Mapping[Key, float], alone: Sequence[Key]) -> float | None:
    """The part of a side's time that the other side has, too."""
    whole = sum(means.values())
    return 1 - sum(means.get(key, 0) for key in alone) / whole if whole else None


def _shares_alone(means: Mapping[Key, float], alone: Sequence[Key]) -> list[tuple[str, float]]:
    """Ops that only one side has, with their part of its time, the largest first."""
    whole = sum(means.values()) or 1
    return sorted(
        ((key[1], means.get(key, 0) / whole) for key in alone), key=lambda share: (-share[1], share[0])
    )


def _replaced(
    keys: tuple[list[Key], list[Key]], alone: tuple[Mapping[int, Scope], Mapping[int, Scope]]
) -> list[_Group]:
    """What was added where something was removed replaces it: a fusion takes the time of its parts."""
    homes: dict[tuple[str, Scope], tuple[list[Key], list[Key]]] = defaultdict(lambda: ([], []))
    for side in (0, 1):
        for i, scope in alone[side].items():
            homes[keys[side][i][0], scope][side].append(keys[side][i])
    return [(gone, new, "scope") for gone, new in homes.values() if gone and new]


def _figures(
    groups: Sequence[_Group],
    sides: tuple[Sequence[RecordedRun], Sequence[RecordedRun]],
    means: tuple[Mapping[Key, float], Mapping[Key, float]],
    least_share: float,
) -> list[FigureSamples]:
    """A figure for each group that takes enough of either side."""
    lows = [(_lows(sides[0], group[0]), _lows(sides[1], group[1])) for group in groups]
    whole_low = [_sum_of_medians([low[side] for low in lows]) or 1 for side in (0, 1)]
    whole_mean = [sum(mean.values()) or 1 for mean in means]
    figures = []
    for group, low in zip(groups, lows, strict=True):
        # Noise only adds: the share of the low figures is what an op takes, of the means what it costs here.
        share = max(
            *(median(low[side]) / whole_low[side] if low[side] else 0 for side in (0, 1)),
            *(
                sum(means[side].get(key, 0) for key in keys) / whole_mean[side]
                for side, keys in ((0, group[0]), (1, group[1]))
            ),
        )
        if share >= least_share:
            a, b, basis = group
            called = (tuple(key[1] for key in a), tuple(key[1] for key in b))
            figures.append(FigureSamples("op", *called, a[0][0], basis, share, *low))
    return figures


def _sum_of_medians(series: Iterable[Sequence[float]]) -> float:
    return sum(median(figures) for figures in series if figures)


def _items(side: Sequence[RecordedRun]) -> dict[Key, NamedItem]:
    """The ops of all recordings of a side: they are of one program, so names alone tell them apart."""
    found: dict[Key, NamedItem] = {}
    for run in side:
        for key, series in run.ops.items():
            found.setdefault(key, series.item)
    return found


def _means(side: Sequence[RecordedRun]) -> dict[Key, float]:
    """Time of each op in a mean step of a mean recording."""
    sums: dict[Key, float] = defaultdict(float)
    for run in side:
        for key, series in run.ops.items():
            sums[key] += sum(series.by_step.values()) / max(1, run.steps)
    return {key: total / len(side) for key, total in sums.items()}


def _lows(side: Sequence[RecordedRun], keys: Sequence[Key]) -> tuple[float, ...]:
    found = []
    for run in side:
        series: list[Series] = [run.ops[key] for key in keys if key in run.ops]
        if series and (figure := low_figure(series, run.steps)) is not None:
            found.append(figure)
    return tuple(found)


def _part_figures(
    baseline: Sequence[RecordedRun], candidate: Sequence[RecordedRun], budget: Budget
) -> list[FigureSamples]:
    """Figures of what a step does beside its ops."""
    labels = sorted({label for run in (*baseline, *candidate) for label in run.parts})
    found = []
    for label in labels:
        shares, low = [], []
        for side in (baseline, candidate):
            time = sum(sum(run.parts.get(label, ())) for run in side)
            shares.append(time / (sum(sum(run.step_ps) for run in side) or 1))
            figures = [
                statistics.quantile(run.parts[label], LOW)
                for run in side
                if label in run.parts and run.step_figure(LOW) is not None
            ]
            low.append(tuple(figure for figure in figures if figure > 0))
        if max(shares) >= budget.least_share:
            found.append(FigureSamples("part", (label,), (label,), "", "name", max(shares), low[0], low[1]))
    return found


def _step_figures(baseline: Sequence[RecordedRun], candidate: Sequence[RecordedRun]) -> list[FigureSamples]:
    found = []
    for name, share in (("10th percentile", LOW), ("median", 0.5)):
        figures = [
            tuple(figure for run in side if (figure := run.step_figure(share)) is not None)
            for side in (baseline, candidate)
        ]
        found.append(FigureSamples("step", (name,), (name,), "", "name", 1.0, figures[0], figures[1]))
    return found


def _variation(side: Sequence[RecordedRun]) -> float | None:
    figures = [figure for run in side if (figure := run.step_figure(LOW)) is not None]
    return stdev(figures) / fmean(figures) if len(figures) > 1 else None


def _judged_share(timed: Sequence[TimedFigure], budget: Budget) -> float | None:
    """The part of the ops' time, by their low figures, of ops of which enough would have been seen."""
    weights: Mapping[int, float] = {
        i: max(figure.a_ps or 0, figure.b_ps or 0)
        for i, figure in enumerate(timed)
        if figure.what == "op" and figure.why != "ignored"
    }
    whole = sum(weights.values())
    if not whole:
        return None
    seen = sum(
        weight
        for i, weight in weights.items()
        if timed[i].status in ("slower", "faster") or (timed[i].visible or math.inf) <= budget.can_see
    )
    return seen / whole

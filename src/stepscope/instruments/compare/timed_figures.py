"""Figures of time, each tested against the noise of the recordings of one program."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import Any, Literal

from stepscope.instruments.compare import statistics
from stepscope.instruments.compare.budgets import Budget

LEAST_RECORDINGS = 4
"""Of each side. With three, a change has to be much larger than noise to show."""


MOST_VARIATION = 0.20
"""Whole steps that vary more than this from recording to recording of the baseline are not judged."""
Status = Literal["slower", "faster", "same", "unjudged"]
_NOISE = 3.0
"""A shift has to be this many times its own standard error."""


Why = Literal["", "few_recordings", "few_steps", "noise", "ignored", "one_side"]


@dataclass(frozen=True)
class MatchedFigure:
    """A figure of time that both sides have."""

    what: Literal["op", "part", "step"]
    names: tuple[str, ...]
    """In the baseline; of what only the candidate has, there."""
    other_names: tuple[str, ...]
    """In the candidate."""
    place: str
    basis: str
    """Why these are the same; `scope` for what replaced something in a scope."""
    share: float
    """Of the time of all ops, or of the step: the larger of both sides."""


@dataclass(frozen=True)
class TimedFigure(MatchedFigure):
    """The figure, compared."""

    a_ps: float | None
    """Median over the recordings of the baseline."""
    b_ps: float | None
    status: Status
    why: Why = ""
    """Why it is not judged."""
    shift: float | None = None
    """0.07 is 7 % more; Hodges and Lehmann's, over recordings."""
    low: float | None = None
    high: float | None = None
    p: float | None = None
    adjusted: float | None = None
    spread: float | None = None
    """Standard deviation of the logarithms within one side: 0.02 is about 2 %."""
    visible: float | None = None
    """The smallest increase that could have been seen."""


@dataclass(frozen=True)
class FigureSamples(MatchedFigure):
    """What is compared: the figure of each recording that has one."""

    a: tuple[float, ...]
    b: tuple[float, ...]


def tested_figures(
    figures: Sequence[FigureSamples], budget: Budget, variation: float | None
) -> list[TimedFigure]:
    """All figures, judged together, because among many tests some find a difference by chance."""
    whys = [_why_unjudged(figure, budget, variation) for figure in figures]
    tests = [
        None if why else statistics.student(_logs(figure.a), _logs(figure.b))
        for figure, why in zip(figures, whys, strict=True)
    ]
    made = [test.p for test in tests if test is not None]
    adjusted = iter(statistics.adjusted(made))
    found = [
        TimedFigure(**_head(figure), status="unjudged", why=why)
        if test is None
        else _tested(figure, test, next(adjusted), len(made), budget)
        for figure, why, test in zip(figures, whys, tests, strict=True)
    ]
    order = {"op": 0, "part": 1, "step": 2}
    return sorted(found, key=lambda figure: (order[figure.what], -figure.share, figure.names))


def _why_unjudged(figure: FigureSamples, budget: Budget, variation: float | None) -> Why:
    """Why a figure is not judged; empty where it is."""
    if budget.rule((*figure.names, *figure.other_names)).ignore:
        return "ignored"
    if min(len(figure.a), len(figure.b)) < LEAST_RECORDINGS:
        return "few_recordings"
    noisy = figure.what == "step" and variation is not None and variation > MOST_VARIATION
    return "noise" if noisy else ""


def _head(figure: FigureSamples) -> dict[str, Any]:
    """What a figure is of, and its middle on either side, as TimedFigure begins."""
    about = {field.name: getattr(figure, field.name) for field in fields(MatchedFigure)}
    a, b = (median(side) if side else None for side in (figure.a, figure.b))
    return {**about, "a_ps": a, "b_ps": b}


def _tested(
    figure: FigureSamples, test: statistics.Test, q: float, tests: int, budget: Budget
) -> TimedFigure:
    """A figure as its test judges it. q: its probability, adjusted for the number of tests."""
    shift = statistics.shift(_logs(figure.a), _logs(figure.b))
    least = math.log1p(budget.rule((*figure.names, *figure.other_names)).minimum_effect or 0)
    error = test.spread * math.sqrt(1 / len(figure.a) + 1 / len(figure.b))
    # Ends are None for so few values that no interval has that level; there are at least four.
    near = (shift.low if shift.middle > 0 else shift.high) or 0.0
    beyond = near >= least if shift.middle > 0 else near <= -least
    changed = q <= budget.alpha and beyond and abs(shift.middle) >= _NOISE * error
    visible = _visible(test.spread, len(figure.a), len(figure.b), tests, least, budget)
    same: Status = "same" if math.expm1(visible) <= 1 else "unjudged"
    return TimedFigure(
        **_head(figure),
        status=("slower" if shift.middle > 0 else "faster") if changed else same,
        why="" if changed or same == "same" else "noise",
        shift=math.expm1(shift.middle),
        low=_grown(shift.low),
        high=_grown(shift.high),
        p=test.p,
        adjusted=q,
        spread=test.spread,
        visible=math.expm1(min(visible, 700)),
    )


def _logs(values: Sequence[float]) -> list[float]:
    return [math.log(value) for value in values]


def _grown(log: float | None) -> float | None:
    return None if log is None else math.expm1(log)


def _visible(spread: float, n: int, m: int, tests: int, least: float, budget: Budget) -> float:
    """The smallest shift that would have passed all that is asked, in four of five cases."""
    strict = statistics.visible(spread, n, m, budget.alpha / max(1, tests))
    return max(
        strict, least + statistics.visible(spread, n, m, 0.05), _NOISE * spread * math.sqrt(1 / n + 1 / m)
    )

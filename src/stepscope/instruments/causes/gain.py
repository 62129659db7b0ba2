"""The gain of a cause: how long a step would be without it, and without a profiler.

What is left is that of a typical step, as a clock around the steps of the mended program would tell: single
steps that something holds up say nothing of it. Where such steps make the mean longer, the upper bound holds
that as well; where they add much beside what goes, it is the mean.
"""

from collections.abc import Mapping, Sequence
from math import hypot, inf, sqrt
from statistics import fmean, median, pstdev
from typing import Literal, NamedTuple

from stepscope.instruments.causes.gain_errors import error_of_median, error_of_samples
from stepscope.instruments.causes.gain_thresholds import THRESHOLDS as THRESHOLDS
from stepscope.instruments.causes.paces import Paces
from stepscope.instruments.step_breakdown.labels import ON_DEVICES

Sums = Mapping[str, int]
"""Picoseconds by label."""
Correction = Literal["profiler", "disturbed"]
"""Corrections of what the parts of a step leave: time that the profiler adds, and time that other programs
add."""


class Left(NamedTuple):
    """A typical step without a part, in picoseconds, with bounds."""

    ps: int
    low_ps: int
    high_ps: int
    corrected: tuple[Correction, ...] = ()
    """The corrections that make it shorter than what the parts of the steps leave, if they matter."""
    untraced_ps: int | None = None
    """The step that it is compared with, if steps were timed without a profiler."""
    besides_ps: int = 0
    """Time of other labels that disappears with the cause."""
    typical_ps: int | None = None
    """The step as it is, by the same steps and the same statistic: what goes is the difference. None where a
    model of something else tells what is left."""


class LeftUntraced(NamedTuple):
    """A typical step that no profiler recorded, a mean one, and the part that goes, with its standard
    error."""

    typical_ps: float
    mean_ps: float
    part: float
    error: float
    elsewhere: float = 0.0
    """What of that part is the cause's, and comes from elsewhere than its place: it may stay."""
    may_go: float = 0.0
    """What may go besides that part."""
    may_stay_ps: float = 0.0
    """What may stay of it, where nothing tells how often it launches but how many ops run."""


def saved(untraced_ps: int, left_ps: int, low_ps: int, high_ps: int) -> tuple[int, int, int]:
    """The time that a step saves without its cause, with bounds: the cause itself takes another time in
    another run, and no step saves more than it takes."""
    saved_ps = max(untraced_ps - left_ps, 0)
    error = THRESHOLDS.errors * THRESHOLDS.again * saved_ps
    low = saved_ps - hypot(high_ps - left_ps, error)
    high = min(saved_ps + hypot(left_ps - low_ps, error), untraced_ps)
    return saved_ps, round(max(low, 0)), round(high)


def hidden_work(needs_ps: int, seen_ps: int, had_cores: float, error_ps: float = 0.0) -> Left:
    """What is left where others' work limits a step, which went on behind the cause. needs_ps: for a step, as
    fast as it can go by what was recorded of who waits for whom; seen_ps: for how long it went on. Where
    nothing tells that a thread waits for another one, the first is too little; where threads could have
    worked at once, and had no reason to, the second is too much. The work shared the cores with the cause,
    and may need as much less without it as its threads waited for them. error_ps: the standard error of both,
    where samples tell them."""
    most_ps = max(needs_ps, seen_ps)
    low_error, high_error = (
        THRESHOLDS.errors * hypot(THRESHOLDS.again * ps, error_ps) for ps in (needs_ps * had_cores, most_ps)
    )
    return Left(
        round(needs_ps * (1 + had_cores) / 2),
        round(max(needs_ps * had_cores - low_error, 0)),
        round(most_ps + high_error),
    )


def step_without(
    steps: Sequence[tuple[int, Sums]],
    cause: str,
    paces: Paces | None = None,
    of_it: float = 1.0,
    calls: float = 0.0,
    had_cores: float = 1.0,
    device: bool = False,
    samples: int | None = None,
    untraced: LeftUntraced | None = None,
) -> Left:
    """How long a typical step would be without a part.

    steps: duration and parts of each. of_it: the part of the cause's time that goes; without its cause, a
    step that computes still has the other ops. calls: launches in a step: where launching goes, the ops stay
    and are launched from a compiled function; 0 where nothing tells them. had_cores: for which part of the
    time in which the program's threads wanted a core they had one. device: what executes does so on a
    device, which no profiler slows down, no other program keeps from its cores, and no pause cools. samples:
    of stacks in these steps, where they tell the part; None where slices do. untraced: a step without a
    profiler and the part of it that goes, where the recorder looked at such steps: that is told then.

    On a machine that is not quiet, the half of the steps of which least is left tells what is typical. Nine
    of ten truths are to lie within the bounds, which hold what is left with and without the correction for
    the profiler. What nothing tells of a step may go with the cause, and so may what is slow because of it;
    what the profiler costs beyond its events may all be in what is left. The upper bound holds the mean as
    well, and is no longer than the step as it is.
    """
    whole = fmean(dur_ps for dur_ps, _ in steps)
    if cause in ("none", "unknown"):
        return _nothing_goes(round(whole), paces)
    took = fmean(parts.get(cause, 0) for _, parts in steps) * of_it
    stays = _still_launched_ps(cause, calls, took)
    by_left = sorted((max(dur_ps - round(of_it * parts.get(cause, 0)), 0), dur_ps) for dur_ps, parts in steps)
    left = [left_ps for left_ps, _ in by_left]
    (usual, typical), (middle, _) = _usual(by_left, took, had_cores), _typical(by_left, took)
    ratio = 1.0 if paces is None else paces.ratio(cause, took, usual)
    again = THRESHOLDS.again * max(THRESHOLDS.quiet / max(had_cores, THRESHOLDS.again), 1.0)
    rare, untraced = _rarity(steps, cause, untraced)
    if untraced is not None and _is_same_work(untraced.typical_ps, whole):
        return _left_untraced(untraced, whole, stays, again, middle, cause, calls)
    executes = fmean(_executes(parts, cause, of_it) for _, parts in steps) if device else 0.0
    without_it = min(max(usual * ratio + stays, executes), whole)
    sampled = error_of_samples(steps, cause, usual, samples)
    error = THRESHOLDS.errors * hypot(again * usual, error_of_median(left), sampled)
    cold = 0.0 if device else _cold_ps(cause, usual * ratio, took)
    untold = median(parts.get("unknown", 0) for _, parts in steps)
    unexplained = 0.0 if paces is None else paces.unexplained_ps()
    low = min(usual - error, middle - error, _least(left, had_cores)) * ratio - untold - cold
    low = max(low - unexplained, 0.0, min(executes, without_it))
    high = max(usual + error, fmean(left) + THRESHOLDS.errors * pstdev(left) / sqrt(len(left)))
    # Nobody knows how long ops take that are launched nobody knows how; others take up to twice the usual.
    high = whole if cause == "dispatch" and not calls else high + 2 * stays
    return Left(
        round(without_it),
        round(min(low, without_it)),
        round(min(max(high, without_it), whole)),
        _corrections(middle, usual, ratio),
        None if rare else untraced_step(paces, whole),
        typical_ps=round(max(whole if rare else typical, without_it)),
    )


def _nothing_goes(whole_ps: int, paces: Paces | None) -> Left:
    """The step as it is."""
    return Left(whole_ps, whole_ps, whole_ps, (), untraced_step(paces, whole_ps), typical_ps=whole_ps)


def _rarity(
    steps: Sequence[tuple[int, Sums]], cause: str, untraced: LeftUntraced | None
) -> tuple[bool, LeftUntraced | None]:
    """Whether most steps hardly have the cause, and the step without a profiler that is compared: a median
    one tells nothing of what goes then."""
    took = [parts.get(cause, 0) for _, parts in steps]
    rare = median(took) < THRESHOLDS.rare * fmean(took)
    if rare and untraced is not None:
        return rare, untraced._replace(typical_ps=untraced.mean_ps)
    return rare, untraced


def _cold_ps(cause: str, left_ps: float, took: float) -> float:
    """The part of the rest that disappears on processors, because the cause leaves caches cold, or full of
    the data of its ops."""
    cold = min(THRESHOLDS.cold_ps, THRESHOLDS.cold * left_ps)
    if cause != "compute":
        return cold
    return max(cold, min(THRESHOLDS.slowed * left_ps, THRESHOLDS.slows * took))


def _still_launched_ps(cause: str, calls: float, took: float) -> float:
    """The launching time of a step's ops from within a compiled function."""
    return min(calls * THRESHOLDS.compiled_op_ps, took / 2) if cause == "dispatch" else 0.0


def untraced_step(paces: Paces | None, recorded_ps: float) -> int | None:
    """How long a typical step is without a profiler; None where none was timed, or those do other work, or
    few long ones make most of the recorded mean, of which a typical one tells nothing."""
    if paces is None or paces.traced_ps < THRESHOLDS.rare * recorded_ps:
        return None
    # A few long steps may make the mean longer than steps are after a recording, which do other work all the
    # same.
    if not _is_same_work(paces.untraced_ps, min(recorded_ps, paces.traced_ps)):
        return None
    return round(paces.untraced_ps)


def _is_same_work(untraced_ps: float, recorded_ps: float) -> bool:
    return untraced_ps <= THRESHOLDS.afterwards * recorded_ps


def _left_untraced(
    untraced: LeftUntraced,
    whole: float,
    stays: float,
    again: float,
    recorded: float,
    cause: str,
    calls: float,
) -> Left:
    """What is left of a step that no profiler recorded. recorded: what the parts of recorded steps leave."""
    usual = untraced.typical_ps * (1 - untraced.part)
    error = THRESHOLDS.errors * hypot(again * usual, untraced.typical_ps * untraced.error)
    goes = untraced.typical_ps * untraced.part
    slowed = max(
        min(THRESHOLDS.slowed * usual, THRESHOLDS.slows * goes),
        min(THRESHOLDS.cold_ps, THRESHOLDS.cold * usual),
    )
    # Neither run, nor samples, nor what was slow, nor what is launched knows of the others' errors.
    elsewhere = untraced.typical_ps * untraced.elsewhere / 2
    without_it = min(usual - slowed / 2 + stays + elsewhere, whole)
    apart = hypot(error, slowed / 2, stays) + elsewhere
    unknown = cause == "dispatch" and not (calls or untraced.may_stay_ps)
    low = without_it - apart - untraced.typical_ps * untraced.may_go
    high = whole if unknown else without_it + apart + untraced.may_stay_ps
    if whole * THRESHOLDS.light <= untraced.typical_ps:
        # The profiler hardly made steps longer, so its slices measure the same steps. Either may be right.
        traced = recorded * untraced.typical_ps / whole
        low, high = min(low, traced - slowed), max(high, traced)
    return Left(
        round(without_it),
        round(max(low, 0)),
        round(min(max(high, without_it), whole)),
        _corrections(recorded, recorded, usual / recorded if recorded else 1.0),
        round(untraced.typical_ps),
        typical_ps=round(max(untraced.typical_ps, without_it)),
    )


def _usual(by_left: Sequence[tuple[int, int]], took: float, had_cores: float) -> tuple[float, float]:
    """What is left of a step that no other program disturbs, and how long that is now. by_left: what is left
    of each, and its duration, in order; took: what goes."""
    mean = _means(by_left)
    least = _means(by_left[: max(len(by_left) // 2, 1)])
    disturbed = had_cores < THRESHOLDS.quiet and least[0] >= THRESHOLDS.steady * mean[0]
    found = _typical(by_left, took)
    if disturbed and least[0] < THRESHOLDS.same * found[0]:
        return least
    # Who reads how long a mean step is, and what goes, subtracts: only another step leaves something else.
    left_apart, apart = (abs(of_found - of_mean) for of_found, of_mean in zip(found, mean, strict=True))
    return mean if apart <= THRESHOLDS.alike * mean[1] < left_apart else found


def _typical(by_left: Sequence[tuple[int, int]], took: float) -> tuple[float, float]:
    """What is left of a typical step, and how long that is now: of the middle half."""
    mean, out = _means(by_left), len(by_left) // 4
    middle = _means(by_left[out : len(by_left) - out])
    return mean if mean[0] - middle[0] > THRESHOLDS.uneven * took else middle


def _means(by_left: Sequence[tuple[int, int]]) -> tuple[float, float]:
    return fmean(left_ps for left_ps, _ in by_left), fmean(dur_ps for _, dur_ps in by_left)


def _least(left: Sequence[int], had_cores: float) -> float:
    """What is left of the steps that were disturbed least, where others had some of the cores."""
    return float(left[len(left) // 10]) if had_cores < THRESHOLDS.quiet else inf


def _corrections(recorded: float, usual: float, ratio: float) -> tuple[Correction, ...]:
    """What makes a difference of those that there were. recorded: what the parts leave."""
    found: list[Correction] = []
    if ratio < THRESHOLDS.same:
        found.append("profiler")
    if usual < THRESHOLDS.same * recorded:
        found.append("disturbed")
    return tuple(found)


def _executes(parts: Sums, cause: str, part: float) -> float:
    """The device's own work in a step that does not disappear."""
    return sum(parts.get(label, 0) * (1 - part if label == cause else 1) for label in ON_DEVICES)

"""The gain of a cause: how long a step would be without it, and without a profiler.

A profiler makes longer what has events. A cause that sleeps or runs Python has none, so what it hides in a
long step comes out once it is gone: the ratio of whole steps says little of what is left. The recorder times
the call that marks a step apart from the rest, with and without a profiler, and events are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from statistics import fmean, median
from typing import Literal, NamedTuple

from stepscope.instruments.step_breakdown.labels import ON_DEVICES
from stepscope.instruments.thresholds import MEASURED, tuned

TURNS = "30 recordings of 17 programs whose fixed forms were timed in turns"


@dataclass(frozen=True, eq=False, repr=False)
class GainThresholds:
    """What a profiler costs, and a launch from within a compiled function."""

    event_ps: int = tuned(
        10**6,
        "what an event costs the thread it is on: about a microsecond, measured with TensorFlow and JAX",
        fitted_on=MEASURED,
        slack=(0.0, inf),
    )
    compiled_op_ps: int = tuned(
        7 * 10**5,
        "what an op takes that is launched from within a compiled function instead: 0.6 to 0.8 us in steps, "
        "0.2 (scalars) to 1.8 us (small matrix products) alone, by TensorFlow's executor and XLA for CPU",
        fitted_on=MEASURED,
        slack=(0.0, inf),
    )
    least_ratio: float = tuned(
        0.4,
        "no profiler makes a step longer than 1 / 0.4: the rest of a difference has other reasons",
        slack=(0.0, inf),
    )
    beside_call: float = tuned(
        0.8,
        "the cause lies beside the call when so much of it fits there: medians do not add up",
        slack=(0.0, inf),
    )
    few_steps: int = tuned(3, "fewer steps have no median that is worth comparing", slack=(0.0, inf))
    quiet: float = tuned(
        0.8,
        "who had cores for less of the time in which it wanted them shared them with other programs, which "
        "make some steps longer: what is left is then that of the half that was disturbed least",
        fitted_on=TURNS,
        slack=(0.0, inf),
    )
    steady: float = tuned(
        1 / 3,
        "where that half has less than this of what all have left, the parts of single steps are not known "
        "so well, as where few samples tell them, and the mean of all is told",
        fitted_on=TURNS,
        slack=(0.0, inf),
    )
    errors: float = tuned(
        1.6, "nine of ten estimates lie within so many standard errors of the truth", slack=(0.0, inf)
    )
    same: float = tuned(0.9, "what takes off less than the rest of this is not worth words", slack=(0.0, inf))


THRESHOLDS = GainThresholds()
_HAS_EVENTS = frozenset({"compile", "compute", "dispatch", "setup", "copy", "input", "communication", "idle"})
"""Causes that consist of what a profiler records, event by event."""

Sums = Mapping[str, int]
"""Picoseconds by label."""
Correction = Literal["profiler", "disturbed"]
"""What is taken off what the parts of a step leave: what the profiler adds, what other programs add."""


class Left(NamedTuple):
    """What is left of a mean step without a part, in picoseconds, and the bounds of that."""

    ps: int
    low_ps: int
    high_ps: int
    corrected: tuple[Correction, ...] = ()
    """Why it is less than what the parts of the steps leave, where that makes a difference."""


@dataclass(frozen=True)
class Paces:
    """Medians of steps, and of the calls that mark them, with and without a profiler."""

    traced_ps: float
    untraced_ps: float
    call_traced_ps: float | None = None
    call_untraced_ps: float | None = None
    events: float = 0.0
    """Events of a traced step, over all threads."""

    def ratio(self, cause: str, took_ps: float, left_ps: float) -> float:
        """What is left of a step without a profiler, as part of the same with one. took_ps: what the cause
        takes of a typical step; left_ps: the rest of it."""
        if left_ps <= 0:
            return 1.0
        call = None
        if self.call_traced_ps and self.call_untraced_ps is not None:
            call = self.call_untraced_ps / self.call_traced_ps
            beside_ps = self.traced_ps - self.call_traced_ps
            if THRESHOLDS.beside_call * took_ps <= beside_ps and self.call_traced_ps >= left_ps / 2:
                # The cause lies beside the call, and the call is most of what is left.
                return min(max(call, THRESHOLDS.least_ratio), 1.0)
        cost_ps = min(max(self.traced_ps - self.untraced_ps, 0.0), self.events * THRESHOLDS.event_ps * 2)
        if cause in _HAS_EVENTS:
            return min(max(1 - cost_ps / self.traced_ps, THRESHOLDS.least_ratio), 1.0)
        # All events are in what is left.
        cost_ps = min(cost_ps, self.events * THRESHOLDS.event_ps)
        return min(max(1 - cost_ps / left_ps, THRESHOLDS.least_ratio), 1.0)


def paces_of(rows: Sequence[tuple[bool, str, float]], events: float) -> Paces | None:
    """From the rows of traced_durations, in nanoseconds: whether it is the call, series, duration. None
    without enough steps of both kinds."""

    def typical(of_call: bool, series: str) -> float | None:
        values = [value for call, name, value in rows if call == of_call and name == series]
        return 1000 * median(values) if len(values) >= THRESHOLDS.few_steps else None

    traced, untraced = typical(False, "traced_ns"), typical(False, "untraced_ns")
    if not traced or untraced is None:
        return None
    return Paces(traced, untraced, typical(True, "traced_ns"), typical(True, "untraced_ns"), events)


def step_without(
    steps: Sequence[tuple[int, Sums]],
    cause: str,
    paces: Paces | None = None,
    of_it: float = 1.0,
    calls: float = 0.0,
    had_cores: float = 1.0,
    device: bool = False,
    samples: int | None = None,
) -> Left:
    """How long a mean step would be without a part.

    steps: duration and parts of each. of_it: the part of the cause's time that goes; without its cause, a
    step that computes still has the other ops. calls: launches in a step: where launching goes, the ops stay
    and are launched from a compiled function; 0 where nothing tells them. had_cores: for which part of the
    time in which the program's threads wanted a core they had one. device: what executes does so on a
    device, which no profiler slows down and no other program keeps from its cores. samples: of stacks in
    these steps, where they tell the part; None where slices do.

    The mean is that of the same steps that a mean step is told of; on a machine that is not quiet, of the
    half of them of which least is left. The bounds are those of nine steps of ten, with and without the
    correction for the profiler. What nothing tells of a step may go with the cause, and samples tell its part
    with an error of their own: both make the bounds wider. The lower one has all cores for itself, the upper
    one is no longer than the step as it is.
    """
    whole = fmean(dur_ps for dur_ps, _ in steps)
    if cause in ("none", "unknown"):
        return Left(round(whole), round(whole), round(whole))
    took = fmean(parts.get(cause, 0) for _, parts in steps) * of_it
    stays = min(calls * THRESHOLDS.compiled_op_ps, took / 2) if cause == "dispatch" else 0.0
    left = sorted(dur_ps - round(of_it * parts.get(cause, 0)) for dur_ps, parts in steps)
    usual = _usual(left, had_cores)
    ratio = 1.0 if paces is None else paces.ratio(cause, took, usual)
    executes = fmean(_executes(parts, cause, of_it) for _, parts in steps) if device else 0.0
    without_it = min(max(usual * ratio + stays, executes), whole)
    low, high = float(left[len(left) // 20]), float(left[-1 - len(left) // 20])
    error = _error(whole, fmean(left), samples)
    low = max(low - fmean(parts.get("unknown", 0) for _, parts in steps) - error, 0.0)
    # Of ops that are launched nobody knows how, nobody knows how long they take either.
    high = whole if cause == "dispatch" and not calls else high + error
    lowest = max(low * ratio * had_cores, min(executes, low))
    return Left(
        round(without_it),
        round(min(lowest, without_it)),
        round(min(max(high + stays, without_it), whole)),
        _corrections(fmean(left), usual, ratio),
    )


def _usual(left: Sequence[int], had_cores: float) -> float:
    """What is left of a step that no other program disturbs. left: of all, in order."""
    whole, least = fmean(left), fmean(left[: max(len(left) // 2, 1)])
    return least if had_cores < THRESHOLDS.quiet and least >= THRESHOLDS.steady * whole else whole


def _error(whole: float, left: float, samples: int | None) -> float:
    """By how much what is left may differ from the truth because so many samples tell it. Of few samples
    that are no samples of the cause, the next recording may have a few more."""
    if not samples or whole <= 0:
        return 0.0
    share = min(max(left / whole, 1 / samples), 1.0)
    return THRESHOLDS.errors * whole * sqrt(share * (1 - share) / samples)


def _corrections(recorded: float, usual: float, ratio: float) -> tuple[Correction, ...]:
    """What makes a difference of those that there were. recorded: what the parts leave."""
    found: list[Correction] = []
    if ratio < THRESHOLDS.same:
        found.append("profiler")
    if usual < THRESHOLDS.same * recorded:
        found.append("disturbed")
    return tuple(found)


def _executes(parts: Sums, cause: str, part: float) -> float:
    """What the device itself does in a step, without what goes."""
    return sum(parts.get(label, 0) * (1 - part if label == cause else 1) for label in ON_DEVICES)

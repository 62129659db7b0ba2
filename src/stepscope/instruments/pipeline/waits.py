"""Waits of the program for its next batch, step by step.

A wait is a call that fetches a batch: the op IteratorGetNext, or the pipeline's root called from the
program's own thread (an eager loop over a Dataset). Replicas that wait at the same time count once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.intervals import Interval, contained, length, lengths, shared, union
from stepscope.instruments.pipeline.calls import StageCall

BOUND_FROM, PARTLY_FROM = CauseThresholds.stands_out, 0.1
"""From this part of the step time on, waiting makes the input the bottleneck, or a part of it."""
LONG_WAIT = 0.5
"""A step waits long when at least this part of it is waiting."""


@dataclass(frozen=True)
class StepTime:
    """A row of the table step."""

    ts_ps: int
    end_ps: int
    averaged: bool
    recovered_from: str


@dataclass(frozen=True)
class Waits:
    """Waiting for input, and its distribution over steps."""

    intervals: list[Interval]
    """Intervals in which the program waited, as a union."""
    basis: list[Interval]
    """The steps that shares refer to, as a union."""
    batches: int
    """Batches taken in the basis; replicas that take theirs together count once."""
    ratio: float
    """Waiting as part of the basis."""
    ratio_all: float
    """Waiting in all steps, with those that averages leave out: only here does filling a buffer show."""
    shares: list[float]
    """Waiting as part of each step, in order of time."""
    has_steps: bool
    between: bool = False
    """The program works between the marked steps, so that steps here reach to the next begin."""
    mean_ps: int | None = None
    """Mean duration of the loop's ordinary steps, where the basis was traced in full; `ratio` is then theirs,
    too."""

    @property
    def step_ps(self) -> int:
        """Mean duration of a step of the basis; the time per batch where there are no steps."""
        if self.mean_ps is not None:
            return self.mean_ps
        return length(self.basis) // max(len(self.basis) if self.has_steps else self.batches, 1)

    @property
    def wait_ps(self) -> int:
        """Mean wait in such a step."""
        return round(self.ratio * self.step_ps)

    @property
    def median(self) -> float:
        """The median share of all steps."""
        return median_low(self.shares) if self.shares else self.ratio

    @property
    def long_waits(self) -> int:
        """Steps with at least half waiting."""
        return sum(share >= LONG_WAIT for share in self.shares)


def find(calls: Sequence[StageCall], steps: Sequence[StepTime]) -> Waits | None:
    """The waits of a source; None without a recorded call that takes a batch. Shares refer to averaged steps,
    or to all where averages include none."""
    taken = [call for call in calls if call.kind == "fetch"] or [call for call in calls if call.takes_batch]
    if not taken:
        return None
    intervals = union((call.ts_ps, max(call.end_ps, call.ts_ps + 1)) for call in taken)
    has_steps = any(step.recovered_from != "whole_capture" for step in steps)
    all_steps, averaged, between = _periods([step for step in steps if step.end_ps > step.ts_ps])
    if not has_steps or not all_steps:
        # From the first batch to the last: the time around them is outside the loop.
        all_steps = averaged = [(intervals[0][0], intervals[-1][1])]
        has_steps = between = False
    ratio_all = _ratio(intervals, all_steps)
    basis = sorted(averaged or all_steps)
    shares = _shares(intervals, sorted(all_steps)) if has_steps else []
    batches = sum(contained([begin for begin, _ in intervals], union(basis)))
    return Waits(intervals, basis, batches, _ratio(intervals, basis), ratio_all, shares, has_steps, between)


BETWEEN = 0.1
"""A loop works between its steps when this takes at least this part of it, at the median."""
BREAK = 3
"""A gap longer than this many median periods is a break: an evaluation, a checkpoint."""


def _periods(steps: Sequence[StepTime]) -> tuple[list[Interval], list[Interval], bool]:
    """All steps, the averaged ones, and whether they were extended to the next. Marks may leave out where the
    program takes its batch (`for batch in dataset: with Trace(…)`), or other work of its loop: waiting, and
    its base, then lie partly between the marks."""
    ordered = sorted(steps, key=lambda step: step.ts_ps)
    if all(step.recovered_from == "file" for step in ordered):
        # Each is a recording of its own; nothing is known between two of them.
        return *_marked_steps(ordered), False
    starts = [step.ts_ps for step in ordered]
    periods = [after - before for before, after in pairwise(starts)]
    typical = median_low(periods) if periods else 0
    gaps = [
        max(period - (step.end_ps - step.ts_ps), 0) for period, step in zip(periods, ordered, strict=False)
    ]
    between = bool(gaps) and median_low(gaps) >= BETWEEN * typical > 0
    if not between:
        return *_marked_steps(ordered), False
    found, averaged = [], []
    for step, after in zip(ordered, [*starts[1:], None], strict=True):
        if after is None:
            continue  # the end of the last one is unknown
        whole = (step.ts_ps, after if after - step.ts_ps <= BREAK * typical else step.end_ps)
        found.append(whole)
        if step.averaged:
            averaged.append(whole)
    return found, averaged, True


def _marked_steps(steps: Sequence[StepTime]) -> tuple[list[Interval], list[Interval]]:
    """All steps, and the averaged ones."""
    every = [(step.ts_ps, step.end_ps) for step in steps]
    return every, [(step.ts_ps, step.end_ps) for step in steps if step.averaged]


def _ratio(intervals: Sequence[Interval], steps: Sequence[Interval]) -> float:
    whole = length(steps)
    return shared(intervals, union(steps)) / whole if whole else 0.0


def _shares(intervals: Sequence[Interval], steps: Sequence[Interval]) -> list[float]:
    """How much of each step is in the intervals."""
    return [
        ps / (end - begin) if end > begin else 0.0
        for ps, (begin, end) in zip(lengths(intervals, steps), steps, strict=True)
    ]

"""What a profiler makes of steps: how long they, and the calls that mark them, take with and without one.

A profiler makes longer what has events. A cause that sleeps or runs Python has none, so what it hides in a
long step comes out once it is gone: the ratio of whole steps says little of what is left. The recorder times
the call that marks a step apart from the rest, with and without a profiler, and events are counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from stepscope.instruments.thresholds import ANY, MEASURED, tuned


@dataclass(frozen=True, eq=False, repr=False)
class PaceThresholds:
    """What a profiler costs."""

    event_ps: int = tuned(
        10**6,
        "what an event costs the thread it is on: about a microsecond, measured with TensorFlow and JAX",
        fitted_on=MEASURED,
        slack=ANY,
    )
    least_ratio: float = tuned(
        0.4,
        "no profiler makes a step longer than 1 / 0.4: the rest of a difference has other reasons",
        slack=ANY,
    )
    beside_call: float = tuned(
        0.8, "the cause lies beside the call when so much of it fits there: medians do not add up", slack=ANY
    )
    warm: float = tuned(
        0.75,
        "steps before a recording of which the last is shorter than this part of their median warm up",
        fitted_on=MEASURED,
        slack=ANY,
    )
    whole: float = tuned(
        0.5,
        "what a recorder timed is no step where it takes a smaller part of what was recorded as one",
        fitted_on=MEASURED,
        slack=ANY,
    )
    few_steps: int = tuned(3, "fewer steps have no median that is worth comparing", slack=ANY)


THRESHOLDS = PaceThresholds()
HAS_EVENTS = frozenset({"compile", "compute", "dispatch", "setup", "copy", "input", "communication", "idle"})
"""Causes whose time a profiler records event by event."""


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
        """The remaining time of a step without a profiler, as a part of that with one. took_ps: the cause's
        time in a typical step; left_ps: the rest of it."""
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
        if cause in HAS_EVENTS:
            return min(max(1 - cost_ps / self.traced_ps, THRESHOLDS.least_ratio), 1.0)
        # All events are in what is left.
        cost_ps = min(cost_ps, self.events * THRESHOLDS.event_ps)
        return min(max(1 - cost_ps / left_ps, THRESHOLDS.least_ratio), 1.0)

    def unexplained_ps(self) -> float:
        """The factor by which steps take longer with a profiler than its events cost: it traced calls of
        Python, or kept stacks and shapes, and the recording does not show in which part of a step."""
        return max(self.traced_ps - self.untraced_ps - self.events * THRESHOLDS.event_ps * 2, 0.0)


def are_steps(timed_ps: float, recorded_ps: Sequence[float]) -> bool:
    """Whether what a recorder timed, by its median, is what was recorded as steps. Where a program calls
    `fit` for every batch it times the batches alone, and what holds of them does not hold of the steps."""
    return timed_ps >= THRESHOLDS.whole * median(recorded_ps)


def paces_of(rows: Sequence[tuple[bool, str, float, bool]], events: float) -> Paces | None:
    """From the rows of traced_durations, in nanoseconds: whether it is the call, series, duration, whether it
    is before those that a profiler recorded. None without enough steps of both kinds."""

    def typical(of_call: bool, series: str) -> float | None:
        of_series = [row[2:] for row in rows if row[:2] == (of_call, series)]
        values = [value for value, early in of_series if not early]
        if len(values) < THRESHOLDS.few_steps:
            # A program that ends with its recording leaves those before it, unless they still get shorter.
            values = [value for value, _ in of_series]
            if values and values[-1] < THRESHOLDS.warm * median(values):
                return None
        return 1000 * median(values) if len(values) >= THRESHOLDS.few_steps else None

    traced, untraced = typical(False, "traced_ns"), typical(False, "untraced_ns")
    if not traced or untraced is None:
        return None
    return Paces(traced, untraced, typical(True, "traced_ns"), typical(True, "untraced_ns"), events)

"""The judgement: what limits the steps of a host, from their parts alone.

Everything that says what to do about a recording follows it: the headline, the weight of findings, and what
is said of the input pipeline. So they cannot contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Literal

from stepscope.instruments.causes.gain import Sums
from stepscope.instruments.laws.broken import Broken
from stepscope.instruments.step_breakdown.labels import LABELS, Label

Confidence = Literal["high", "medium", "low"]
Weakness = Literal["few-steps", "few-samples", "busy-machine"]
Cause = Label | Literal["none"]

LEAST = 0.05
"""Parts that hold more than this of a step are causes."""
FEW_STEPS = 5
FEW_SAMPLES = 10
"""Fewer of them weaken an answer."""
ERRORS = 2.0
"""What leads by less than so many standard errors may lead by chance."""
STANDS_OUT = 0.25
"""A part besides compute is what limits a step from here on, even where compute takes more: it can be had
without changing the model."""
DISPATCH_STANDS_OUT = 0.35
"""The same of launching: some of it belongs to every op, and a profiler makes it longer."""
UNKNOWN_FROM = 0.4
"""When nothing is known of this part of a step, its cause is not known either, unless more is known of
another."""
BUSY = 1.0
"""A machine is busy when as many threads of the program wait for a core as run."""
ONE_OP = 0.4
"""A type of op stands out when it takes this part of the time of all ops."""
ONE_LAYER = 0.7
"""So does a layer, forward and backward, beside others."""


@dataclass(frozen=True)
class Place:
    """A line of the program."""

    file: str
    line: int | None
    function: str | None


@dataclass(frozen=True)
class Retrace:
    """A function that was traced or compiled again and again, and what was new about the calls."""

    function: str
    called: Place | None
    change: str
    """As in compilation.change."""
    argument: str | None
    was: str | None
    became: str | None
    times: int
    """Calls that traced or compiled because of such a change."""
    steps: int
    """Steps in which they lie."""


@dataclass(frozen=True)
class Allocating:
    """Calls that allocate or free memory of a device."""

    name: str
    """Of the call that takes longest."""
    calls: int
    took_ps: int
    """Over all threads and the whole recording."""
    all_ps: int
    """The same of all such calls, whatever their names."""


@dataclass(frozen=True)
class Contention:
    """What a program had of the cores that it wanted."""

    running: float
    """Threads that ran, on average."""
    waiting: float
    """Threads that waited for a core."""
    ran: float | None = None
    """For which part of the time in which it launches the thread that runs the steps ran, where samples
    tell."""
    queued: float = 0.0
    """For which part of that time it could have run and had no core."""

    @property
    def launching(self) -> float:
        """Which part of the launching is not spent waiting for cores. The thread that launches waits for one
        itself, or for other threads of the framework, which wait like all of the program's."""
        if self.ran is None:
            return 1.0
        others = max(1.0 - self.ran - self.queued, 0.0)
        return min(self.ran + others * self.had_cores, 1.0)

    @property
    def had_cores(self) -> float:
        """For which part of the time in which the program's threads wanted a core they had one."""
        wanted = self.running + self.waiting
        return self.running / wanted if wanted else 1.0

    @property
    def busy(self) -> bool:
        """Whether the machine was too busy to tell launching from waiting for cores."""
        return self.waiting >= BUSY * self.running and self.waiting > 0


@dataclass(frozen=True)
class Part:
    """What one label takes of a mean step."""

    label: Label
    ps_per_step: int
    share: float


@dataclass(frozen=True)
class Weighed:
    """What labels take of the steps that are judged, and so what limits them."""

    parts: tuple[Part, ...]
    """All labels that took any time, the longest first."""
    cause: Cause
    """As far as labels alone tell: never `compute`, which is said of one type of op."""
    steps: int
    """How many were judged."""
    mean_ps: int
    whole_capture: bool
    """No steps were found; the whole recording stands for one."""
    elsewhere: bool = field(default=False, kw_only=True)
    """The steps are not those in which a pipeline was traced, but steps of the same loop that ran as ever."""

    def share_of(self, label: str) -> float:
        """The part of a mean step that counts to a label."""
        return next((part.share for part in self.parts if part.label == label), 0.0)


@dataclass(frozen=True)
class Judgement(Weighed):
    """What limits the steps of a host, as far as ops, stacks and captures tell as well."""

    run_id: str
    host_id: str
    share: float
    """Of a mean step, what the cause takes; of compute for `none`."""
    ps_per_step: int
    confidence: Confidence
    left_ps: int
    """How long a step would be without the cause; where ops are, without the type of op or the layer that
    stands out."""
    low_ps: int
    high_ps: int
    place: Place | None = None
    called_from: Place | None = None
    spent_in: Place | None = None
    """The function that takes most of the time of `place`, where that only calls it."""
    in_python: bool = False
    """Whether place is Python that a loader runs, and no line that only writes a stage."""
    op: str | None = None
    op_type: str | None = None
    op_share: float | None = None
    """What that type takes of the time of all ops."""
    layer_share: float | None = None
    """What the layer that stands out takes of it; None where none does."""
    stage: str | None = None
    spoken: str | None = None
    """The stage as the user wrote it."""
    given: Place | None = None
    """The function of the program's that the stage was given."""
    calls: int | None = None
    """Launches in a mean step, where launching is the cause."""
    allocating: Allocating | None = None
    """Calls that make room on the device, where that is the cause."""
    of_session: bool = False
    """They are runs of a session."""
    function: str | None = None
    """Function that was traced or compiled."""
    retrace: Retrace | None = None
    compiling: int | None = None
    """Steps that traced or compiled something."""
    mark: str | None = None
    """What the program called the part of its steps that the cause lies in, where no line is known."""
    others: Weighed | None = None
    """The steps that averages include, where those that compile are judged as well and limit the program."""
    weak: tuple[Weakness, ...] = ()
    """What it was decided by that is few."""
    contention: Contention | None = None
    awaits_copies: Literal["host", "device"] | None = None
    """Where copying is the cause and cores wait for it: whether most of it is from or to the memory of the
    host."""
    serves: bool = False
    """Whether its steps are batches of an inference server."""
    on_device: bool = False
    """Whether what executes does so on a device."""
    broken: tuple[Broken, ...] = ()
    """Laws that do not hold of what it was decided by."""
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def causes(self) -> tuple[Part, ...]:
        """The parts that hold more than LEAST of a step."""
        return tuple(part for part in self.parts if part.share > LEAST)


def parts_of(steps: Sequence[tuple[int, Sums]]) -> tuple[Part, ...]:
    """What labels take of a mean step, the longest first. steps: duration and parts of each."""
    whole = sum(dur_ps for dur_ps, _ in steps)
    if not whole:
        return ()
    sums: dict[str, int] = {}
    for _, parts in steps:
        for label, ps in parts.items():
            sums[label] = sums.get(label, 0) + ps
    totals = [(label, sums[label]) for label in LABELS if sums.get(label)]
    found = [Part(label, total // len(steps), total / whole) for label, total in totals]
    return tuple(sorted(found, key=lambda part: (-part.share, LABELS.index(part.label))))


def cause_of(
    parts: Sequence[Part],
    one_op: float | None,
    one_layer: float | None = None,
    contention: Contention | None = None,
) -> tuple[Cause, float, int]:
    """What limits a step, with its share and its time. one_op: what the type of op that takes most takes of
    all; one_layer: the same of a layer. Launching stands out by what it would take had it not waited for
    cores: what makes it wait, such as the input's threads, is another cause."""
    share = {part.label: part.share for part in parts}
    time = {part.label: part.ps_per_step for part in parts}
    others = [part for part in parts if part.label not in ("compute", "unknown")]
    known = max(share.get("compute", 0.0), others[0].share if others else 0.0)
    if share.get("unknown", 0.0) >= max(UNKNOWN_FROM, known):
        return "unknown", share["unknown"], time["unknown"]
    real = 1.0 if contention is None else contention.launching
    for part in others:
        launching = part.label == "dispatch"
        does = part.share * real / (1 - part.share * (1 - real)) if launching else part.share
        if does >= _least(part.label):
            return part.label, part.share, part.ps_per_step
    compute, took = share.get("compute", 0.0), time.get("compute", 0)
    if compute > share.get("unknown", 0.0):
        return ("compute" if standing_out(one_op, one_layer) else "none"), compute, took
    return "unknown", share.get("unknown", 0.0), time.get("unknown", 0)


def confidence_of(share: float, unknown: float, steps: int, weak: Sequence[Weakness] = ()) -> Confidence:
    """How sure a cause is: few steps, few samples, or much that nobody recorded, weaken it."""
    if share >= 0.5 and unknown < 0.15 and steps >= FEW_STEPS and not weak:
        return "high"
    return "medium" if unknown < 0.3 and share >= STANDS_OUT and len(weak) < 2 else "low"


def weaknesses(
    steps: Sequence[tuple[int, Sums]],
    cause: Cause,
    samples: tuple[float, float, float] | None,
    contention: Contention | None = None,
) -> list[Weakness]:
    """What an answer was decided by that is few, and whether other programs had the cores. steps: duration
    and parts of each. samples: where they tell the place, how many there are, how many speak for it, and how
    many for the next best."""
    found: list[Weakness] = []
    if cause != "unknown" and not _settled(steps, cause):
        found.append("few-steps")
    if samples is not None:
        number, there, next_best = samples
        # The error of the difference of two counts that share their samples.
        apart = there - next_best > ERRORS * math.sqrt(there + next_best)
        if number < FEW_SAMPLES or not apart:
            found.append("few-samples")
    if contention is not None and contention.busy:
        found.append("busy-machine")
    return found


def _settled(steps: Sequence[tuple[int, Sums]], cause: str) -> bool:
    """Whether what made this label the cause exceeds the error of a mean over so many steps: that it takes
    more than it needs to stand out, and more than the next one; of compute, that the next one does not stand
    out."""
    if len(steps) < FEW_STEPS:
        return False
    computes = cause in ("compute", "none")
    rival = next(
        (one.label for one in parts_of(steps) if one.label not in ("compute", "unknown", cause)), None
    )
    whole = sum(dur_ps for dur_ps, _ in steps) / len(steps)
    if computes:
        bound = _least(rival) * whole
        return rival is None or _exceeds([bound - sums.get(rival, 0) for _, sums in steps])
    bound = _least(cause) * whole
    more = [sums.get(cause, 0) - (sums.get(rival, 0) if rival else 0) for _, sums in steps]
    return _exceeds([sums.get(cause, 0) - bound for _, sums in steps]) and _exceeds(more)


def _least(label: str | None) -> float:
    return DISPATCH_STANDS_OUT if label == "dispatch" else STANDS_OUT


def _exceeds(values: Sequence[float]) -> bool:
    """Whether their mean is above zero by more than its error."""
    return mean(values) > ERRORS * stdev(values) / math.sqrt(len(values))


def standing_out(one_op: float | None, one_layer: float | None) -> float:
    """What the type of op or the layer that stands out takes of the time of all ops: of the two that reach
    their bound the greater, and nothing when neither does."""
    op, layer = one_op or 0.0, one_layer or 0.0
    return max(op if op >= ONE_OP else 0.0, layer if layer >= ONE_LAYER else 0.0)

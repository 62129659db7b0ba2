"""The rate model: how long a step takes when every part of it runs as fast as it can.

    step = max(program + its lane, slowest other lane, CPU work / cores, functions / threads of the pool)

`program` is the time of a step that is not waiting. Lanes (see rates) run side by side, and with the
program; what runs in the program's own lane adds to it. A model trained on the CPU competes for the
cores, so that its own time adds to the CPU work; how much it does is taken from what the step takes now.
Where that is longer still (threads that hinder each other, buffers that run empty), a changed pipeline is
taken to keep that factor in part. The interval reaches from the model without competition to the one with
all of it and the whole factor, and 10 % further on either side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stepscope.instruments.pipeline.rates import Load
from stepscope.instruments.pipeline.stages import PROGRAM
from stepscope.instruments.pipeline.waits import Waits

CPU, POOL = "cpu", "threads"
"""What limits when it is no stage: the cores, or the threads that run functions, as many as cores."""


@dataclass(frozen=True)
class Part:
    """A stage in the model: its work per step and what shares it."""

    number: int
    name: str
    lane: str
    width: int
    work_ps: int
    cpu_ps: int
    """What of its work needs a core; reading and waiting Python do not, or not all of it."""
    pool_ps: int = 0
    """Time in which its function holds a thread of the pool, waiting or not."""


@dataclass(frozen=True)
class Model:
    """A program and its pipeline."""

    program_ps: int
    parts: tuple[Part, ...]
    cores: int
    device: bool
    """The program computes on an accelerator, so that its step leaves the cores to the pipeline."""

    def lanes(self) -> Counter[str]:
        """Time that each lane needs for a step."""
        found: Counter[str] = Counter({PROGRAM: self.program_ps})
        for part in self.parts:
            found[part.lane] += part.work_ps // max(part.width, 1)
        return found

    def step(self, crowded: bool = False) -> tuple[int, str]:
        """Duration of a step and its limit: a lane, CPU or POOL. crowded: the program takes all cores."""
        lanes = self.lanes()
        lane = max(lanes, key=lambda one: (lanes[one], one == PROGRAM, one))
        cpu = sum(part.cpu_ps for part in self.parts) // self.cores
        cpu += self.program_ps if crowded and not self.device else 0
        pool = sum(part.pool_ps for part in self.parts) // self.cores
        return max((lanes[lane], lane), (cpu, CPU), (pool, POOL), key=lambda bound: bound[0])

    def limit(self, lane: str) -> str:
        """The name of what limits: a stage, `program`, `cpu` or `threads`."""
        inside = [part for part in self.parts if part.lane == lane]
        largest = max(
            inside, key=lambda part: (part.work_ps // max(part.width, 1), part.number), default=None
        )
        if largest is None or lane in (CPU, POOL):
            return lane
        if lane == PROGRAM and largest.work_ps // max(largest.width, 1) <= self.program_ps:
            return PROGRAM
        return largest.name

    def changed(self, numbers: Sequence[int], change: Callable[[Part], Part | None]) -> Model:
        """The model with some parts changed, or left out."""
        parts = [change(part) if part.number in numbers else part for part in self.parts]
        return replace(self, parts=tuple(part for part in parts if part is not None))


@dataclass(frozen=True)
class Prediction:
    """Duration of a step after a change, and what limits it then."""

    step_ps: int
    low_ps: int
    high_ps: int
    limits_next: str


def of(loads: Sequence[Load], waits: Waits, cores: int, device: bool) -> Model:
    """The model of what was recorded."""
    parts = tuple(
        Part(
            load.stage.number,
            load.stage.name,
            load.stage.lane,
            load.width,
            load.work_ps,
            0 if load.python or load.stage.short.startswith(_READS) else min(load.cpu_ps, load.work_ps),
            min(load.pool_ps, load.work_ps),
        )
        for load in loads
        if load.work_ps
    )
    return Model(max(waits.step_ps - waits.wait_ps, 0), parts, cores, device)


_READS = ("TFRecord", "TextLine", "FixedLengthRecord", "MatchingFiles", "Generator")


def predict(now: Model, then: Model, measured_ps: int) -> Prediction:
    """What a step takes after the change. measured_ps: what it takes now."""
    if then == now:
        return Prediction(
            measured_ps, round(0.9 * measured_ps), round(1.1 * measured_ps), now.limit(now.step()[1])
        )
    crowding = _crowding(now, measured_ps)
    before = max(_between(now, crowding), 1)
    factor = max(measured_ps / before, 1.0)
    middle = _between(then, crowding)
    # What hinders are threads and buffers of the pipeline: the less it has left to do, the less it hinders.
    likely = round(middle * (1 + (factor - 1) * min(middle / before, 1.0)))
    high = min(round(1.1 * max(then.step(crowded=True)[0], middle * factor)), round(1.05 * measured_ps))
    low = round(0.9 * then.step()[0])
    high = max(high, low)
    lane = then.step(crowded=crowding > 0.5)[1]
    return Prediction(min(max(likely, low), high), low, high, then.limit(lane))


def _crowding(now: Model, measured_ps: int) -> float:
    """How much the program and the pipeline compete for cores, 0 to 1: what makes the model tell the
    measured step, or comes next to it."""
    free, crowded = now.step()[0], now.step(crowded=True)[0]
    return min(max((measured_ps - free) / (crowded - free), 0.0), 1.0) if crowded > free else 0.0


def _between(model: Model, crowding: float) -> int:
    free = model.step()[0]
    return round(free + crowding * (max(model.step(crowded=True)[0], free) - free))

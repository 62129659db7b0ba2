"""The rate model: how long a step takes when every part of it runs as fast as it can.

    step = max(program + its lane, slowest other lane, bursts, CPU work / cores, functions / pool's threads)

`program` is the time of a step that is not waiting. Lanes (see rates) run side by side, and with the
program; what runs in the program's own lane adds to it.

*Cores.* What program and pipeline compute shares the cores, and cores that both want are `packed` in part
only. How much longer each of them took because it waited for cores, its stretch, is fitted to the record of
its threads (see fitting). Each hinders the other by the root of what it keeps cores busy: work that is
divided among threads ends with the thread that was held up, however shortly. So after a change

    stretch of the program = 1 + (stretch now - 1) * sqrt(cores the pipeline keeps busy then / now)

and the same the other way round. Without such a record the program's part in the CPU work is what makes
the model tell the measured step.

*Bursts.* A parallel map works ahead by as many elements as it has threads. While its consumer does
something else, as training, it gets no further: of n elements a step n - threads are made while it is waited
for.

*Handing over.* In the lane that limits, what the measured step takes beyond the work of its stages is the
time of handing over elements between threads. It goes with the number of elements, not with their work.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stepscope.instruments.pipeline.stages import PROGRAM

_MOST_PRESSURE = 2.0
"""Stretch may grow by this factor at most: there are only so many cores."""
CPU, POOL = "cpu", "threads"
"""What limits when no stage does: the cores, or the threads that run functions, one per core."""


@dataclass(frozen=True)
class ModelStage:
    """A stage in the model: its work per step, and what shares it. Times leave out waiting for cores."""

    number: int
    name: str
    lane: str
    width: int
    work_ps: int
    cpu_ps: int
    """The part of its work that needs a core; reading and waiting Python need none, or not all the time."""
    pool_ps: int = 0
    """Time in which its function occupies a thread of the pool, waiting or not."""
    into: str = PROGRAM
    """The lane of its consumer."""
    calls: float = 1.0
    """Elements that it makes for a step."""
    handing_ps: int = 0
    """Handover of its elements between threads, over all its threads."""
    late_ps: int = 0
    """Time until its threads work again, where they stopped in between."""
    handing_cpu_ps: int = 0
    """The cores' part of that, beside the work of the stages in the same time."""
    bursts: bool = False
    """It works ahead by at most as many elements as it has threads."""
    python: bool = False
    """It runs Python."""

    @property
    def inline(self) -> bool:
        """It runs in the program's own thread."""
        return self.lane == PROGRAM and not self.pool_ps

    @property
    def computing_ps(self) -> int:
        """All its CPU work."""
        return self.cpu_ps + self.handing_cpu_ps

    def service(self, stretches: tuple[float, float] = (1.0, 1.0)) -> float:
        """Time for a step when the computing of program and pipeline is stretched by these factors."""
        stretch = stretches[0 if self.inline else 1]
        return (self.work_ps + self.cpu_ps * (stretch - 1) + self.handing_ps) / max(self.width, 1)


@dataclass(frozen=True)
class PipelineModel:
    """A program and its pipeline. Times leave out waiting for cores."""

    program_ps: int
    program_cpu: tuple[int, int]
    """CPU work of the program in a step: at least, at most."""
    parts: tuple[ModelStage, ...]
    cores: int
    """Cores of the machine."""
    free_cores: float
    """Cores that other programs leave free."""
    stretch: tuple[float, float] = (1.0, 1.0)
    """How much longer the computing of program and pipeline took while both ran as they did."""
    busy: tuple[float, float] = (1.0, 1.0)
    """Cores that program and pipeline kept busy in the recording."""
    others: float = 0.0
    """Cores that other programs keep busy."""
    packed: float = 1.0
    """The part of the cores that stays busy when more is wanted: threads also wait for one another."""
    pool: int | None = None
    """Threads of the pool, where not one per core."""

    @property
    def threads(self) -> int:
        """Threads that run functions."""
        return self.pool or self.cores

    def lanes(self, stretch: tuple[float, float] = (1.0, 1.0)) -> Counter[str]:
        """Time that each lane needs for a step."""
        found: Counter[str] = Counter({PROGRAM: self._program(stretch[0])})
        for part in self.parts:
            found[part.lane] += round(part.service(stretch))
        return found

    def step(self, crowding: float = 0.0) -> tuple[int, str]:
        """Duration of a step and its limit: a lane, CPU or POOL. crowding: how much of the unknown CPU work
        of the program is assumed, 0 to 1."""
        least, most = self.program_cpu
        program_ps = least + crowding * (most - least)
        work = sum(part.computing_ps for part in self.parts)
        found = self._bound((1.0, 1.0), program_ps + work)
        for _ in range(20):
            if self.stretch == (1.0, 1.0):
                break
            inline, beside = self.shared()
            mine, theirs = (program_ps + inline) / max(found[0], 1), beside / max(found[0], 1)
            next_one = self._bound(
                (
                    1 + (self.stretch[0] - 1) * self._pressure(theirs, self.busy[1]),
                    1 + (self.stretch[1] - 1) * self._pressure(mine, self.busy[0]),
                ),
                program_ps + work,
            )
            found = ((found[0] + next_one[0]) // 2, next_one[1])
        return found

    def shared(self) -> tuple[int, int]:
        """CPU work of the pipeline in the program's thread, and on other threads."""
        inline = sum(part.computing_ps for part in self.parts if part.inline)
        return inline, sum(part.computing_ps for part in self.parts) - inline

    def _pressure(self, then: float, now: float) -> float:
        if now + self.others <= 0:
            return 1.0  # nobody knows who hinders whom, so the stretch stays
        return min(math.sqrt((then + self.others) / (now + self.others)), _MOST_PRESSURE)

    def alone(self) -> PipelineModel:
        """The model without any waiting for cores."""
        return replace(self, stretch=(1.0, 1.0), packed=1.0)

    def held(self) -> PipelineModel:
        """The model in which program and pipeline always hinder each other as much as now: cores that one
        leaves free may go to threads that spin."""
        return replace(self, busy=(0.0, 0.0), others=0.0)

    def handing_over(self, measured_ps: int, crowding: float) -> PipelineModel:
        """The model that reproduces the measured step: missing time counts as handover, in the limiting lane
        of the pipeline."""
        if measured_ps <= self.step(crowding)[0] or not self.parts:
            return self
        works: Counter[str] = Counter()
        for part in self.parts:
            works[part.lane] += round(part.service(self.stretch))
        lane = max(works, key=lambda name: (works[name], name))
        inside = [part for part in self.parts if part.lane == lane]
        functions = [part for part in inside if part.pool_ps]
        if 2 * sum(part.work_ps for part in functions) > sum(part.work_ps for part in inside):
            weights: dict[int, float] = {part.number: part.calls for part in functions}
        else:  # a lane does more than functions; the stage that works most also hands over most
            weights = {part.number: part.work_ps for part in inside}
        total = sum(weights.values()) or 1.0
        missing, late = self._missing(lane, measured_ps)

        def add_handing(part: ModelStage) -> ModelStage:
            handing_ps = round(missing * weights[part.number] / total * max(part.width, 1))
            return replace(part, handing_ps=handing_ps, late_ps=round(late) if part.bursts else 0)

        return self.changed(list(weights), add_handing)

    def _missing(self, lane: str, measured_ps: int) -> tuple[float, float]:
        """How much longer a lane has to take for the step to be as long as measured, and how much later than
        that its bursts begin. A lane that works all the time takes all of it. Where it stops between bursts,
        nothing separates handover from waking threads: each gets half."""
        found = (float(measured_ps - self.lanes(self.stretch)[lane]), 0.0)
        for part in self.parts:
            if part.lane != lane or not part.bursts:
                continue
            between, often, waited = self._bursting(part, self.stretch)
            within = max(often, waited * part.service(self.stretch))
            if waited <= 0 or between + within >= measured_ps:
                continue
            late = (measured_ps - between - within) / 2
            needed = (measured_ps - between - late) / waited - part.service(self.stretch)
            found = min(found, (needed, late))
        return max(found[0], 0.0), found[1]

    def _bound(self, stretch: tuple[float, float], cpu_ps: float) -> tuple[int, str]:
        lanes = self.lanes(stretch)
        lane = max(lanes, key=lambda name: (lanes[name], name == PROGRAM, name))
        pool = sum(part.pool_ps for part in self.parts) // self.threads
        bounds = [(lanes[lane], lane), (round(cpu_ps / (self.free_cores * self.packed)), CPU), (pool, POOL)]
        bounds += [(self._burst(part, stretch), part.lane) for part in self.parts if part.bursts]
        return max(bounds, key=lambda bound: bound[0])

    def _burst(self, part: ModelStage, stretch: tuple[float, float]) -> int:
        """A step whose consumer waits for a stage that works ahead by a few elements, and takes many at
        once."""
        between, often, waited = self._bursting(part, stretch)
        # Only a program that does something else lets the threads stop.
        late = part.late_ps if part.into == PROGRAM else 0
        return round(between + late + max(often, waited * part.service(stretch)))

    def _bursting(self, part: ModelStage, stretch: tuple[float, float]) -> tuple[float, float, float]:
        """What the consumer of such a stage does between its bursts and within them, and how much of the
        stage's time it waits for."""
        taking = [stage for stage in self.parts if stage.lane == part.into]
        rare = [stage for stage in taking if stage.calls <= part.calls / 2]
        between = sum(stage.service(stretch) for stage in rare)
        often = sum(stage.service(stretch) for stage in taking if stage not in rare)
        bursts = min((stage.calls for stage in rare), default=part.calls)
        if part.into == PROGRAM:
            between += self._program(stretch[0])
            bursts = min(bursts, 1.0)
        ahead = min(part.width * bursts / max(part.calls, 1e-9), 1.0)
        return between, often, 1 - ahead

    def _program(self, stretch: float) -> int:
        """The program's part of a step: computing on at least one thread is stretched."""
        return round(self.program_ps + min(self.program_cpu[0], self.program_ps) * (stretch - 1))

    def limit(self, lane: str) -> str:
        """The name of the limit: a stage, `program`, `cpu` or `threads`."""
        inside = [part for part in self.parts if part.lane == lane]
        largest = max(inside, key=lambda part: (part.service(), part.number), default=None)
        if largest is None or lane in (CPU, POOL):
            return lane
        if lane == PROGRAM and largest.service() <= self.program_ps:
            return PROGRAM
        return largest.name

    def changed(
        self, numbers: Sequence[int], change: Callable[[ModelStage], ModelStage | None]
    ) -> PipelineModel:
        """The model with some parts replaced, or removed."""
        parts = [change(part) if part.number in numbers else part for part in self.parts]
        return replace(self, parts=tuple(part for part in parts if part is not None))


@dataclass(frozen=True)
class Prediction:
    """Duration of a step after a change, and its limit."""

    step_ps: int
    low_ps: int
    high_ps: int
    limits_next: str

    def times(self, factor: float) -> Prediction:
        """The prediction for a step that is longer by a factor."""
        low, likely, high = (round(time_ps * factor) for time_ps in (self.low_ps, self.step_ps, self.high_ps))
        return Prediction(likely, low, high, self.limits_next)


def predict(now: PipelineModel, then: PipelineModel, measured_ps: int) -> Prediction:
    """Duration of a step after the change. measured_ps: duration now."""
    if then == now:
        return Prediction(
            measured_ps, round(0.9 * measured_ps), round(1.1 * measured_ps), now.limit(now.step()[1])
        )
    crowded = crowding(now, measured_ps)
    # Where the model's step exceeds the measured one, its parts are too large, before and after the change.
    scale = min(measured_ps / max(now.step(crowded)[0], 1), 1.0)
    likely, lane = then.step(crowded)
    # The program's own time was measured and needs no correction.
    likely = max(round(likely * scale), min(then.program_ps, measured_ps))
    low = round((1 - UNSURE) * min(then.alone().step()[0] * scale, likely))
    # Half of the gain from less waiting for cores may not come true: every measured prediction was too large.
    half = (then.step(crowded)[0] + then.held().step(crowded)[0]) // 2
    high = round((1 + UNSURE) * max(then.step(1.0)[0] * scale, half * scale, likely))
    high = max(min(high, round(1.05 * measured_ps)), low)
    return Prediction(min(max(likely, low), high), low, high, then.limit(lane))


UNSURE = 0.15
"""The interval reaches beyond the model's own two ends by this part."""


def crowding(now: PipelineModel, measured_ps: int) -> float:
    """How much of the program's possible CPU work it does, 0 to 1: the value with which the model reproduces
    the measured step, or comes closest. The middle where both ends give the same step."""
    free, crowded = now.step()[0], now.step(1.0)[0]
    return min(max((measured_ps - free) / (crowded - free), 0.0), 1.0) if crowded > free else 0.5

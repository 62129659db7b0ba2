"""The case that is tried: the stage that limits, in its pipeline, and what a trial of a change is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stepscope.instruments.pipeline.chain import Ending, ending
from stepscope.instruments.pipeline.model import PipelineModel
from stepscope.instruments.pipeline.places import ANY_ORDER, AUTOTUNE
from stepscope.instruments.pipeline.rates import Load
from stepscope.instruments.pipeline.stages import PipelineStage

Facts = Mapping[str, str | int | float]
"""What the words for a change need: `way`, where it is one of several, the stage, and numbers."""

Unknown = Literal["", "many_at_once", "files", "one_file", "one_branch", "order", "other_hosts"]
"""What is not known of a change."""


@dataclass(frozen=True)
class Trial:
    """A change: its name, what of the stage it is about, and the model after it."""

    name: str
    facts: Facts
    then: PipelineModel
    unknown: Unknown = ""
    """Why what it gains cannot be told."""


@dataclass(frozen=True)
class Case:
    """The stage that limits, in its pipeline."""

    loads: Sequence[Load]
    worst: Load
    now: PipelineModel
    measured_ps: int
    bound: bool = True
    """The program waits for its input."""
    tells_cores: bool = True
    """The recording says how many cores there are."""
    remade: bool = False
    """The program makes a new iterator in most steps."""

    @property
    def ends(self) -> Ending:
        """How the pipeline ends."""
        return ending([load.stage for load in self.loads])

    @property
    def stage(self) -> PipelineStage:
        """The stage."""
        return self.worst.stage

    @property
    def is_fused(self) -> bool:
        """Whether it is a map that TensorFlow fused with the batch behind it."""
        return self.stage.short.startswith("MapAndBatch")

    @property
    def has_function(self) -> bool:
        """Whether it is a map, whose function can be called otherwise."""
        return self.stage.short.startswith(("Map", "ParallelMap")) and not self.is_fused

    @property
    def number(self) -> list[int]:
        """Its number, as the model wants it."""
        return [self.stage.number]

    @property
    def upstream(self) -> list[int]:
        """Numbers of the stages that feed it."""
        return [load.stage.number for load in self.fed_by(self.worst)]

    @property
    def batched(self) -> float:
        """Elements of the stage that a batch behind it, or fused with it, takes; 1 when none does."""
        if self.is_fused:
            return float(self.stage.number_of("batch_size") or 1)
        above = self.stage.above
        while above is not None:
            load = next((load for load in self.loads if load.stage is above), None)
            if load is not None and "Batch" in above.short and "Unbatch" not in above.short:
                size = above.number_of("batch_size")
                if size:
                    return float(size)
                return self.worst.per_step / load.per_step if load.per_step else 1.0
            above = above.above
        return 1.0

    def facts(self, way: str = "", **more: str | int | float) -> Facts:
        """What the words for a change of the stage need."""
        return self.facts_of(self.stage, way, **more)

    def facts_of(self, stage: PipelineStage, way: str = "", **more: str | int | float) -> Facts:
        """The same for a change of another stage."""
        return {
            "stage": stage.spoken,
            "autotune": autotune(self.loads),
            "any_order": any_order(self.loads),
            **({"way": way} if way else {}),
            **more,
        }

    @property
    def outside(self) -> Load:
        """The stage itself, or for one that a function makes the stage in the user's chain whose function it
        is."""
        outer = self.stage.nested_in
        return next((load for load in self.loads if load.stage is outer), self.worst)

    def fed_by(self, load: Load) -> list[Load]:
        """The stages that feed one."""
        return [other for other in self.loads if _is_below(other, load)]

    def parallelized(self, width: int | None = None) -> PipelineModel:
        """It runs on threads of its own, and what it takes from on another one. width: its threads, as many
        as the pool has when None."""
        now, number = self.now, self.stage.number
        upstream = self.upstream
        lane = next((part.lane for part in now.parts if part.number == number), None)
        before = [part.number for part in now.parts if part.lane == lane and part.number in upstream]
        thread = now.changed(before, lambda p: replace(p, lane=f"changed:before:{number}"))
        bursts = self.stage.short == "Map"
        return thread.changed(
            self.number,
            lambda p: replace(
                p, lane=f"changed:{p.number}", width=width or now.threads, into=p.lane, bursts=bursts
            ),
        )


def autotune(loads: Sequence[Load]) -> str:
    """How the program's TensorFlow writes it. TensorFlow 1 has it among what is experimental."""
    return AUTOTUNE if _numbered(loads) else f"{AUTOTUNE.rpartition('.')[0]}.experimental.AUTOTUNE"


def any_order(loads: Sequence[Load]) -> str:
    """How the program's TensorFlow lets a stage hand elements over as they are ready: TensorFlow 1 has it
    among the options of the whole pipeline."""
    return ANY_ORDER if _numbered(loads) else "options.experimental_deterministic = False"


def _numbered(loads: Sequence[Load]) -> bool:
    """Whether iterators have ids. Those without are TensorFlow 1's."""
    return any(not call.is_unnumbered for load in loads for call in load.stage.calls[:1])


def _is_below(load: Load, worst: Load) -> bool:
    above = load.stage.above
    while above is not None:
        if above is worst.stage:
            return True
        above = above.above
    return False

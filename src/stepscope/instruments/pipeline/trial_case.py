"""The case of a trial: the stage that limits, in its pipeline; and a trial of a change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stepscope.instruments.pipeline.chain import Ending, ending
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import PipelineModel
from stepscope.instruments.pipeline.places import ANY_ORDER, AUTOTUNE
from stepscope.instruments.pipeline.stages import PipelineStage

Facts = Mapping[str, str | int | float]
"""Values for the wording of a change: `way`, where it is one of several, the stage, and numbers."""

Unknown = Literal[
    "", "many_at_once", "files", "one_file", "one_branch", "order", "other_hosts", "function", "cores", "ops"
]
"""Why a gain is unknown."""


@dataclass(frozen=True)
class Trial:
    """A change: its name, its values, and the model after it."""

    name: str
    facts: Facts
    then: PipelineModel
    unknown: Unknown = ""
    """Why its gain cannot be predicted."""


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
    """The recording tells how many cores there are."""
    tells_threads: bool = True
    """The recording tells how many cores or threads there are."""
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
        """Whether it is a map that TensorFlow fused with the batch after it."""
        return self.stage.short.startswith("MapAndBatch")

    @property
    def has_function(self) -> bool:
        """Whether it is a map, whose function can be called in another way."""
        return self.stage.short.startswith(("Map", "ParallelMap")) and not self.is_fused

    @property
    def number(self) -> list[int]:
        """Its number, as the model wants it."""
        return [self.stage.number]

    @property
    def upstream(self) -> list[int]:
        """Numbers of its inputs."""
        return [load.stage.number for load in self.fed_by(self.worst)]

    @property
    def batched(self) -> float:
        """Elements of the stage that the batch after it, or fused with it, takes; 1 without one."""
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
        """Values for the wording of a change of the stage."""
        return self.facts_of(self.stage, way, **more)

    def facts_of(self, stage: PipelineStage, way: str = "", **more: str | int | float) -> Facts:
        """Values for the wording of a change of another stage."""
        return {
            "stage": stage.spoken,
            "autotune": autotune(self.loads),
            "any_order": any_order(self.loads),
            "threading": threading(self.loads),
            **({"way": way} if way else {}),
            **more,
        }

    @property
    def outside(self) -> Load:
        """The stage itself; for one made by a function, the stage of the user's chain with that function."""
        outer = self.stage.nested_in
        return next((load for load in self.loads if load.stage is outer), self.worst)

    def fed_by(self, load: Load) -> list[Load]:
        """The inputs of a stage."""
        return [other for other in self.loads if _is_below(other, load)]

    def parallelized(self, width: int | None = None) -> PipelineModel:
        """The model with threads for the stage, and one for its input. width: its threads, by default the
        pool's."""
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
    """How AUTOTUNE is spelled in the program's TensorFlow: up to 2.3 only in `experimental`."""
    return AUTOTUNE if _named(loads) else f"{AUTOTUNE.rpartition('.')[0]}.experimental.AUTOTUNE"


THREADING = "threading"
"""Options of threads, as they are called since TensorFlow 2.6."""


def threading(loads: Sequence[Load]) -> str:
    """How the options of threads are called in the program's TensorFlow: up to 2.5 only `experimental`."""
    return THREADING if _named(loads) else f"experimental_{THREADING}"


def _named(loads: Sequence[Load]) -> bool:
    """Whether datasets have names, as they have since TensorFlow 2.6."""
    return any("name" in args and "id" in args for args in _args(loads))


def any_order(loads: Sequence[Load]) -> str:
    """How the program's TensorFlow lets a stage pass elements on as soon as they are ready; in TensorFlow 1,
    whose iterators have no ids, it is an option of the whole pipeline."""
    numbered = any("id" in args for args in _args(loads))
    return ANY_ORDER if numbered else "options.experimental_deterministic = False"


def _args(loads: Sequence[Load]) -> Iterator[Mapping[str, object]]:
    """What a call of each stage tells."""
    return (call.args for load in loads for call in load.stage.calls[:1])


def _is_below(load: Load, worst: Load) -> bool:
    above = load.stage.above
    while above is not None:
        if above is worst.stage:
            return True
        above = above.above
    return False

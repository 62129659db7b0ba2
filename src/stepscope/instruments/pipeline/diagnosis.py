"""A diagnosis of an input pipeline, and the evidence of a capture that it may use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stepscope.instruments.pipeline import changes
from stepscope.instruments.pipeline.accounting import Accounts, ModelRow
from stepscope.instruments.pipeline.ceiling import Ceiling
from stepscope.instruments.pipeline.chain import Ending, Removed
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import PipelineModel, Prediction, predict
from stepscope.instruments.pipeline.oddities import Oddity
from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.stages import PipelineStage
from stepscope.instruments.pipeline.tracing import TracingPace
from stepscope.instruments.pipeline.waits import Waits

Verdict = Literal["input_bound", "partly_input_bound", "not_input_bound", "unknown"]
Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Diagnosis:
    """The input pipeline in the trace of one source."""

    verdict: Verdict
    confidence: Confidence
    waits: Waits | None
    loads: tuple[Load, ...]
    """All stages, consumers first."""
    ranked: tuple[Load, ...]
    """Stages, those that limit the pipeline most first; empty when unknown."""
    changes: tuple[PredictedChange, ...]
    cores: int
    share_seen: float = 1.0
    """The part of the recording's calls that was read."""
    accounts: Accounts | None = None
    """The accounts of tf.data's own model, where captured."""
    machine: Machine | None = None
    """How busy the cores were, where recorded."""
    ceiling: Ceiling | None = None
    places: Mapping[PipelineStage, Sequence[UserStage]] = field(default_factory=dict)
    """Where the user wrote each stage, where captured."""
    step_ps: int | None = None
    """Duration of a step to compare predictions with: without a profiler, if the capture has it, else as
    traced. None where no waits are known."""
    pace: TracingPace | None = None
    """Durations of steps with and without a profiler, where captured."""
    contends: Load | None = None
    """The stage that takes most of the cores, where a pipeline keeps up but shares them with the program."""
    bottleneck: Load | None = None
    """The stage that limits: without its work a step would be shorter. None when no stage does."""
    beside: Load | None = None
    """Another stage that limits as much, on its own threads: removing the work of only one of the two gains
    nothing."""
    wait_share: float | None = None
    """The part of the steps in which a call for a batch was under way."""
    odd: tuple[Oddity, ...] = ()
    """Losses and oddities of the recording; each lowers the confidence."""
    model: PipelineModel | None = None
    """The rate model of the steps as they are, from which predictions start. None where no waits are
    known."""
    unseen: int | None = None
    """Waiting of the traced runs, where that is much less than that of other runs: between traced runs the
    pipeline worked ahead, unobserved."""
    apart_ps: int | None = None
    """Mean time between two recorded runs, of which nothing was recorded, where the pipeline keeps up and
    works ahead: it may keep up because of that time."""
    ends: Ending | None = None
    """How the pipeline ends: with or without a prefetch, and who added it."""
    removed: tuple[Removed, ...] = ()
    """Transformations of the user's that TensorFlow removed."""
    tells_cores: bool = True
    """The recording tells how many cores the machine has, or tf.data may use."""
    least_threads: int | None = None
    """Threads that ran ops at once, where the recording tells neither how many there are nor how many cores:
    predictions assume no more."""

    @property
    def without_limit(self) -> Prediction | None:
        """A step without the work of the stages that limit: by the proposal that removes it, if there is one,
        else as if they did nothing. None when no stage limits."""
        if self.model is None or self.step_ps is None or self.bottleneck is None:
            return None
        if self.beside is None:
            for change in self.changes:
                if change.helps and change.name in changes.REMOVES:
                    return change.prediction
        gone = [load.stage.number for load in (self.bottleneck, self.beside) if load is not None]
        then = self.model.changed(gone, lambda part: None)
        return None if then == self.model else predict(self.model, then, self.step_ps)


@dataclass(frozen=True)
class CaptureEvidence:
    """What a capture records beside the trace."""

    models: Sequence[ModelRow] = ()
    places: Sequence[UserStage] = ()
    machine: Machine | None = None
    missing: Sequence[Oddity] = ()
    """Losses and cuts of the recording, in sentences."""
    pace: TracingPace | None = None
    """Durations of steps with and without a profiler, where a recorder saw both."""
    remade: bool = False
    """The program makes a new iterator in most steps."""
    apart_ps: int | None = None
    """Mean time between two runs, where each is a recording of its own and the time is not short."""
    cores: int | None = None
    """Cores of the machine, where a capture counted them, if at another time than that of the trace."""
    at_once: int | None = None
    """The most threads that ran ops at once, where iterators tell neither cores nor threads."""

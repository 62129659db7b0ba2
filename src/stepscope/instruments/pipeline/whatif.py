"""A step with other threads, work or cores: the rate model with the user's own numbers.

Proposals (see trials) try common changes. Here the user sets the threads of a stage and how much of its work
is left; the model, the prediction and its interval are the same. A stage without work is removed, handover
included.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from stepscope.instruments.pipeline.changes import surely_parallel
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import PipelineModel, Prediction, predict
from stepscope.instruments.pipeline.model_parts import moved_from_program, scaled
from stepscope.instruments.pipeline.stages import PROGRAM
from stepscope.instruments.pipeline.trial_case import Case


@dataclass(frozen=True)
class Setting:
    """A stage with other settings."""

    number: int
    width: int
    """Threads that share its work."""
    work: float = 1.0
    """The part of its work that is left: 0.5 when its function is twice as fast, 0 when the stage is gone."""


@dataclass(frozen=True)
class Need:
    """The cost of a stage with its settings."""

    number: int
    width: int
    service_ps: int
    """Time for a step on its threads."""


@dataclass(frozen=True)
class PredictedStep:
    """The predicted step, and the cost of each stage."""

    prediction: Prediction
    needs: tuple[Need, ...]


def ask(
    diagnosis: Diagnosis,
    settings: Sequence[Setting] = (),
    *,
    cores: int | None = None,
    prefetch: bool = False,
) -> PredictedStep | None:
    """The step with some stages changed; None where the recording does not show how long a step takes.
    settings: unknown numbers of stages are ignored. cores: cores of the machine, None for the recorded
    number. prefetch: the end of the pipeline works ahead of the program."""
    now, measured_ps = diagnosis.model, diagnosis.step_ps
    if now is None or measured_ps is None:
        return None
    loads = {load.stage.number: load for load in diagnosis.loads}
    wanted = {setting.number: setting for setting in settings if setting.number in loads}
    needs = tuple(_need(load, wanted.get(number)) for number, load in loads.items())
    cores = now.cores if cores is None else cores
    if cores == now.cores and not prefetch and _takes_the_limit(diagnosis, wanted.values()):
        limit = diagnosis.without_limit
        if limit is not None:
            return PredictedStep(limit, needs)
    then = _model_on_machine(now, cores, prefetch)
    for setting in wanted.values():
        then = _changed_model(then, diagnosis.loads, loads[setting.number], setting, measured_ps)
    prediction = predict(now, then, measured_ps)
    if not _surely_wider(diagnosis, [(loads[setting.number], setting) for setting in wanted.values()]):
        prediction = replace(prediction, high_ps=max(measured_ps, prediction.high_ps))
    return PredictedStep(prediction, needs)


def _takes_the_limit(diagnosis: Diagnosis, settings: Iterable[Setting]) -> bool:
    """Whether only the limiting stages are removed: the summary has the same prediction."""
    limiting = {load.stage.number for load in (diagnosis.bottleneck, diagnosis.beside) if load is not None}
    widths = {load.stage.number: load.width for load in diagnosis.loads}
    changed = [asked for asked in settings if (asked.width, asked.work) != (widths[asked.number], 1)]
    return {asked.number for asked in changed} == limiting and not any(asked.work for asked in changed)


def _surely_wider(diagnosis: Diagnosis, settings: Sequence[tuple[Load, Setting]]) -> bool:
    """Whether every stage with more threads surely uses them."""
    wider = [load for load, setting in settings if setting.width > load.width]
    known = diagnosis.least_threads is None
    return all(known and surely_parallel(load, diagnosis.machine) for load in wider)


def _changed_model(
    then: PipelineModel, loads: Sequence[Load], load: Load, setting: Setting, measured_ps: int
) -> PipelineModel:
    """The model with a stage changed."""
    if not setting.work:
        return then.changed([setting.number], lambda part: None)
    if setting.width != load.width:
        part = next((part for part in then.parts if part.number == setting.number), None)
        if part is not None and (load.stage.ahead or (part.lane != PROGRAM and part.width > 1)):
            then = then.changed([setting.number], lambda p: replace(p, width=setting.width))
        elif setting.width > 1:  # with its own threads, as in a parallel map
            then = Case(loads, load, then, measured_ps).parallelized(setting.width)
    return (
        then
        if setting.work == 1.0
        else then.changed([setting.number], partial(scaled, work=setting.work, calls=1.0))
    )


def _model_on_machine(now: PipelineModel, cores: int, prefetch: bool) -> PipelineModel:
    """The model with these cores, and with an end that works ahead of the program."""
    then = now
    if cores != now.cores:
        then = replace(now, cores=cores, free_cores=max(now.free_cores + cores - now.cores, 1.0))
    return replace(then, parts=tuple(moved_from_program(part) for part in then.parts)) if prefetch else then


def _need(load: Load, setting: Setting | None) -> Need:
    width, work = (load.width, 1.0) if setting is None else (setting.width, setting.work)
    return Need(load.stage.number, width, round(load.work_ps * work) // max(width, 1))

"""Changes to a pipeline, and the gain of each.

Each change is tried in the rate model. Changes without a gain are listed as well, because people try them
first. Their wording is in report/.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from stepscope.instruments.pipeline import footprint
from stepscope.instruments.pipeline.footprint import Footprint
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import PipelineModel, Prediction, predict
from stepscope.instruments.pipeline.model_parts import part_of
from stepscope.instruments.pipeline.places import Code, UserStage, code
from stepscope.instruments.pipeline.stages import PipelineStage
from stepscope.instruments.pipeline.trial_case import Case, Facts, Trial, Unknown
from stepscope.instruments.pipeline.trials import HELPS, trials

_PARALLEL = (
    "parallelise_map", "raise_parallelism", "parallelise_batch", "parallelise_reading", "outer_parallelism",
    "more_cores", "larger_threadpool",
)  # fmt: skip

REMOVES = frozenset({"drop_python", "move_filter", "cache_here", "list_files_once", "smaller_shuffle"})
"""Changes that leave a stage nothing to do, or only what is needed."""


@dataclass(frozen=True)
class PredictedChange:
    """A change, with the duration of a step after it."""

    name: str
    stage: str
    facts: Facts
    prediction: Prediction
    helps: bool
    code: Code | None = None
    """The line to change, where the capture knows it."""
    unknown: Unknown = ""
    """Why the gain cannot be predicted; the prediction is then only what is possible."""
    why_not: Literal["", "gains_little", "does_not_work"] = ""
    """Why the change does not help."""
    cache: Footprint | None = None
    """The memory of a cache."""
    batch_bytes: int | None = None
    """Bytes of a batch that a prefetch holds, where known."""


def heaviest(
    loads: Sequence[Load], now: PipelineModel, program_ps: int, machine: Machine | None
) -> Load | None:
    """The stage that takes most of the cores, when a program that does not wait for input wants them. None
    when the program would be no faster without its pipeline, or the threads were not recorded. program_ps:
    duration of a step without its waits."""
    if machine is None or not machine.tells_threads or not now.parts:
        return None
    without = predict(now, replace(now, parts=()), program_ps)
    if without.step_ps > (1 - HELPS) * program_ps:
        return None
    part = max(now.parts, key=lambda part: (part.computing_ps, part.number))
    return next(load for load in loads if load.stage.number == part.number)


def propose(
    loads: Sequence[Load],
    worst: Load,
    now: PipelineModel,
    measured_ps: int,
    where: Mapping[PipelineStage, Sequence[UserStage]],
    places: Sequence[UserStage],
    machine: Machine | None = None,
    even: float = 1.0,
    bound: bool = True,
    remade: bool = False,
    tells: tuple[bool, bool] = (True, True),
) -> list[PredictedChange]:
    """Changes for the stage that limits the pipeline, or that takes most of the cores. Those that help come
    first, the largest gain first, then those whose gain is unknown.

    measured_ps: duration of a step now. machine: its cores and memory, where recorded. even: the part of a
    step that remains if buffers even out the steps. bound: the program waits for its input. remade: most
    steps make a new iterator, which loses everything cached or read ahead. tells: whether the recording tells
    how many cores there are, and how many of them or of threads.
    """
    case = Case(loads, worst, now, measured_ps, bound, *tells, remade)
    written_on = where.get(worst.stage, ())
    made = [_proposed(trial, case, written_on, places, machine, even) for trial in trials(case)]
    return sorted(made, key=_rank)


def _rank(change: PredictedChange) -> tuple[bool, bool, int, int]:
    """Changes that help first, then those whose gain is unknown; the surer one where two gain as much."""
    prediction = change.prediction
    return not change.helps, not change.unknown, prediction.step_ps, prediction.high_ps


def _proposed(
    trial: Trial,
    case: Case,
    written_on: Sequence[UserStage],
    places: Sequence[UserStage],
    machine: Machine | None,
    even: float,
) -> PredictedChange:
    """The gain of a trial, and the line to change. even: see propose()."""
    name, facts = trial.name, trial.facts
    prediction = _predicted(trial, case, machine)
    if name == "prefetch" and even < 1 - HELPS and trial.then == case.now:
        last = case.ends.last
        tuned = last is not None and last.args.get("autotune") == "true"
        facts = {**facts, "way": "uneven_by_autotune" if tuned else "uneven"}
        prediction = _evened(prediction, even, case.measured_ps)
    cache = None
    if name == "cache_here":
        cache = footprint.cache(case.outside, written_on, machine, case.fed_by(case.outside))
    impossible = (cache is not None and cache.fits is False) or (case.remade and name in _KEPT)
    helps = prediction.step_ps <= (1 - HELPS) * case.measured_ps and not impossible
    unknown = trial.unknown
    if helps and not unknown and any(load.unseen for load in case.loads):
        unknown = "function"
    if not (helps or unknown or impossible or case.tells_threads) and name in _PARALLEL:
        unknown = "cores"
    written = _meant(name, written_on) if _has_a_line(name, case) and not impossible else None
    return PredictedChange(
        name,
        case.worst.stage.branch_name,
        facts,
        prediction,
        helps and not unknown,
        code(name, written, places, str(facts["autotune"])),
        unknown,
        "" if helps else "does_not_work" if impossible else "gains_little",
        cache,
        footprint.batch(case.loads) if name == "prefetch" else None,
    )


def _evened(prediction: Prediction, even: float, measured_ps: int) -> Prediction:
    """The gain of a buffer that evens out the steps."""
    likely = round(even * measured_ps)
    return replace(prediction, step_ps=likely, low_ps=round(0.9 * likely), high_ps=measured_ps)


def _has_a_line(name: str, case: Case) -> bool:
    """Whether the change edits a line of the user's chain."""
    inside = case.worst.stage.nested_in is not None and name not in _OF_OUTSIDE
    return not inside and name not in _NO_LINE


def _predicted(trial: Trial, case: Case, machine: Machine | None) -> Prediction:
    """A step after a trial, within the bounds of the stage and the machine."""
    prediction = predict(case.now, trial.then, case.measured_ps)
    if trial.name in _PARALLEL and not (case.tells_threads and surely_parallel(case.worst, machine)):
        return replace(prediction, high_ps=max(case.measured_ps, prediction.high_ps))
    if trial.name == "vectorise" and trial.then is not case.now:
        # Kernels of small tensors cost about as much as one kernel of many elements.
        least = case.now.changed(case.number, partial(part_of, share=1 / case.batched))
        low = predict(case.now, least, case.measured_ps).low_ps
        return replace(prediction, low_ps=min(low, prediction.low_ps))
    return prediction


def surely_parallel(load: Load, machine: Machine | None) -> bool:
    """Whether more threads surely do more. Computing Python holds the lock and waiting Python does not, and a
    trace cannot tell them apart. Threads that copy share the memory bandwidth. And more threads get more
    cores only where other programs leave some."""
    crowded = machine is not None and machine.crowded
    return not (load.python or crowded or _COPIES.match(load.stage.short))


_COPIES = re.compile(r"(Padded|Parallel|Ragged|DenseToSparse)?Batch(V\d+)?$|Unbatch$")
"""Stages that mostly copy elements: memory bandwidth limits them, so they may not scale with threads."""
_KEPT = ("cache_here", "prefetch")
"""Changes that cache or read ahead, for later steps."""
_OF_OUTSIDE = ("prefetch", "parallelise_reading", "raise_parallelism", "any_order", "cache_here")
"""Changes of the user's chain, even where a function in it makes the stage."""
_NO_LINE = ("more_cores", "tf_data_service")
"""Changes elsewhere than on the stage's own line."""


def _meant(change: str, written: Sequence[UserStage]) -> UserStage | None:
    """The transformation to change, among those that were fused into one stage."""
    if change in ("parallelise_batch", "cache_here"):
        return written[-1] if written else None
    return written[0] if written else None

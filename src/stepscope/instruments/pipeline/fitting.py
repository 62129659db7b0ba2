"""Fits the rate model to a recording: a thread's share of the cores shows how much it computes.

The events of a stage show how long it worked, waiting for a core included. A record of the threads (see
machine) shows how long they were on cores. So for the pipeline

    stretch = computing time by the events / time of its threads on cores

which is at least 1, and limited by how long the threads waited for cores. Where the threads computed more
than the stages did, the rest is Python, or the handover of elements between threads: pool threads spin for a
while before they sleep.
"""

from collections.abc import Sequence
from dataclasses import replace

from stepscope.instruments.pipeline.cores import pool_of
from stepscope.instruments.pipeline.host import Machine, Threads
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import ModelStage, PipelineModel, crowding
from stepscope.instruments.pipeline.waits import PARTLY_FROM, Waits

PACKED = 0.9
"""The part of the cores that stays busy while program and pipeline both want more. Measured: 0.81 to 0.91 on
two cores, both of which the program could use."""
_LEAST_PACKED = 0.7
"""When fewer of the cores are busy, something else limits the program."""
_READS = ("TFRecord", "TextLine", "FixedLengthRecord", "MatchingFiles", "Generator")


def fit(
    loads: Sequence[Load],
    waits: Waits,
    cores: int,
    device: bool,
    machine: Machine | None = None,
    measured_ps: int | None = None,
) -> PipelineModel:
    """The model of the recording. machine: the threads' share of the cores, where known. measured_ps:
    duration of a step without a profiler, where known. Profiling costs time between the pieces of a stage's
    work, which is not handover."""
    measured_ps = waits.step_ps if measured_ps is None else measured_ps
    program_ps = max(waits.step_ps - waits.wait_ps, 0)
    parts = [_part(load) for load in loads if load.work_ps]
    others = machine.others if machine is not None and machine.full else 0.0
    free = cores * cores / (cores + others)  # as many threads as cores against theirs
    pool = pool_of([load.stage for load in loads])
    pool = None if pool == cores else pool
    threads = None if machine is None else _program_and_pipeline(machine, parts, waits)
    if threads is not None:
        bare = PipelineModel(program_ps, (0, 0), (), cores, free, others=others, pool=pool)
        return _models_by_threads(bare, parts, waits, *threads, measured_ps)
    most = 0 if device else _most_of_program(machine, parts, waits, cores)
    found = PipelineModel(program_ps, (0, most), tuple(parts), cores, free, pool=pool)
    return found.handing_over(measured_ps, crowding(found, measured_ps))


def _most_of_program(machine: Machine | None, parts: Sequence[ModelStage], waits: Waits, cores: int) -> int:
    """The most that a program without a device can compute in a step."""
    # One core is assumed when neither a record nor the trace tells how many there are.
    most = 0 if machine is None and cores == 1 else max(waits.step_ps - waits.wait_ps, 0) * cores
    if machine is not None and machine.process_cores is not None:
        used = round(machine.process_cores * waits.step_ps) - sum(part.cpu_ps for part in parts)
        most = min(most, max(used, 0))
    return most


def _part(load: Load) -> ModelStage:
    stage = load.stage
    needs_core = not load.python and not stage.short.startswith(_READS)
    return ModelStage(
        stage.number,
        stage.name,
        stage.lane,
        load.width,
        load.work_ps,
        min(load.cpu_ps, load.work_ps) if needs_core else 0,
        min(load.pool_ps, load.work_ps),
        stage.consumer_lane,
        load.per_step,
        bursts=stage.short.startswith("ParallelMap"),
        python=load.python,
    )


def _program_and_pipeline(
    machine: Machine, parts: Sequence[ModelStage], waits: Waits
) -> tuple[Threads, Threads] | None:
    """The stretch of program and pipeline. Where their threads cannot be told apart, the pipeline's ran for
    as long as its events say, and all waited alike. Its Python and the program then share the rest in
    proportion to their working time."""
    if machine.program is not None and machine.pipeline is not None:
        return machine.program, machine.pipeline
    both = machine.together
    if both is None:
        return None
    told_ps = sum(part.cpu_ps for part in parts if not part.inline)
    ran_ps = max(waits.step_ps * both.running, 1)
    python_ps = sum(part.work_ps for part in parts if part.python)
    at_work_ps = python_ps + waits.step_ps - waits.wait_ps
    told_ps += round(max(ran_ps - told_ps, 0) * python_ps / max(at_work_ps, 1))
    share = min(told_ps / ran_ps, 1.0)
    return (
        Threads(both.running * (1 - share), both.waiting * (1 - share)),
        Threads(both.running * share, both.waiting * share),
    )


def _models_by_threads(
    bare: PipelineModel,
    parts: Sequence[ModelStage],
    waits: Waits,
    program: Threads,
    pipeline: Threads,
    measured_ps: int,
) -> PipelineModel:
    """bare: the model without stages, and with the program as it was recorded."""
    step_ps = max(waits.step_ps, 1)
    ran_ps = round(pipeline.running * step_ps)
    told_ps = sum(part.cpu_ps for part in parts if not part.inline)
    stretch = (program.stretch, min(max(told_ps / max(ran_ps, 1), 1.0), pipeline.stretch))
    parts = [_alone(part, stretch[0 if part.inline else 1]) for part in parts]
    rest_ps = ran_ps - sum(part.cpu_ps for part in parts if not part.inline)
    parts = _add_rest(parts, max(rest_ps, 0))
    # Stages in the program's own thread do not count to the program, nor do kernels of the
    # pipeline that compute on the framework's threads.
    inline_ps = sum(part.cpu_ps for part in parts if part.inline)
    own_ps = max(round(program.running * step_ps) - inline_ps + min(rest_ps, 0), 0)
    own_ps = min(own_ps, bare.program_ps * bare.cores)
    stretched = min(own_ps * stretch[0], bare.program_ps)  # more of it runs on other threads at the same time
    found = replace(
        bare,
        program_ps=round(bare.program_ps - stretched * (1 - 1 / stretch[0])),
        program_cpu=(own_ps, own_ps),
        parts=tuple(parts),
        stretch=stretch,
        packed=PACKED,
    )
    inside_ps, beside_ps = found.shared()
    found = replace(found, busy=((own_ps + inside_ps) / step_ps, beside_ps / step_ps))
    if waits.ratio >= PARTLY_FROM:
        return found.handing_over(measured_ps, 0.0)
    # Nobody waits for handover: the step is longer because of waiting for cores.
    packed = (own_ps + inside_ps + beside_ps) / (found.free_cores * step_ps)
    return replace(found, packed=min(packed, 1.0)) if packed >= _LEAST_PACKED else found


def _add_rest(parts: Sequence[ModelStage], rest_ps: int) -> list[ModelStage]:
    """The parts with the computing that threads of the pipeline did beyond them, as Python if there is any,
    else as handover."""
    python = [part for part in parts if part.python]
    # Parts that hand work to other threads: those of a pool, or all with threads of their own.
    functions = [part for part in parts if part.pool_ps] or [part for part in parts if not part.inline]
    total = float(sum(part.work_ps for part in python)) or sum(part.calls for part in functions)
    found = []
    for part in parts:
        if part in python:
            part = replace(part, cpu_ps=min(round(rest_ps * part.work_ps / total), part.work_ps))
        elif not python and part in functions and total:
            part = replace(part, handing_cpu_ps=round(rest_ps * part.calls / total))
        found.append(part)
    return found


def _alone(part: ModelStage, stretch: float) -> ModelStage:
    """The part without its waiting for cores."""
    cpu_ps = round(part.cpu_ps / stretch)
    work_ps = part.work_ps - part.cpu_ps + cpu_ps
    return replace(part, work_ps=work_ps, cpu_ps=cpu_ps, pool_ps=min(part.pool_ps, work_ps))

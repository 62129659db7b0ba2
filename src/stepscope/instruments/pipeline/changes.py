"""What could be changed, and what each change would gain.

A change is tried in the rate model; those that leave the step as it is are told as well, because they are
what people try first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from stepscope import units
from stepscope.instruments.pipeline import footprint
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.model import Model, Part, Prediction, predict
from stepscope.instruments.pipeline.places import Code, Place, code
from stepscope.instruments.pipeline.rates import Load
from stepscope.instruments.pipeline.stages import PROGRAM, Stage

HELPS = 0.05
"""A change helps when it takes at least this part off the step."""
_PARALLEL = (
    "parallelise_map",
    "raise_parallelism",
    "parallelise_batch",
    "parallelise_reading",
    "more_cores",
    "larger_threadpool",
)
_SOURCES = ("TFRecord", "TextLine", "FixedLengthRecord", "SSTable", "RecordIO", "ArrayRecord")


@dataclass(frozen=True)
class Change:
    """A change with the duration of a step after it."""

    name: str
    stage: str
    what: str
    """In a sentence, with the code to write."""
    prediction: Prediction
    helps: bool
    code: Code | None = None
    """The line to change, where the capture knows it."""
    unknown: str = ""
    """Why what it gains cannot be told; the prediction is then only what is possible."""


def heaviest(loads: Sequence[Load], now: Model, program_ps: int, machine: Machine | None) -> Load | None:
    """The stage that takes most of the cores that a program wants which does not wait for input. None when
    such a program would be no faster without its pipeline, and where no record of the threads tells.
    program_ps: duration of a step without its waits."""
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
    now: Model,
    measured_ps: int,
    where: Mapping[Stage, Sequence[Place]],
    places: Sequence[Place],
    machine: Machine | None = None,
    even: float = 1.0,
) -> list[Change]:
    """Changes for the stage that limits, or that takes most of the cores. Those that help come first, and of
    them those that fit the stage before those that fit all. measured_ps: duration of a step now. machine: its
    cores and memory, where a record tells. even: part of a step that would remain if buffers evened steps."""
    crowded = machine is not None and machine.crowded
    made = []
    for name, load, what, then in _candidates(loads, worst, now, measured_ps):
        prediction = predict(now, then, measured_ps)
        if (load.python or crowded) and name in _PARALLEL:
            # Python that computes holds the lock, Python that waits does not: the trace cannot tell. And more
            # threads get more of the cores only where other programs leave some.
            prediction = replace(prediction, high_ps=max(measured_ps, prediction.high_ps))
        if name == "vectorise" and then is not now:
            # Kernels of small tensors cost what one of many elements does, more or less.
            share = 1 / _batched(loads, load)
            least = now.changed([load.stage.number], partial(_part_of, share=share))
            low = predict(now, least, measured_ps).low_ps
            prediction = replace(prediction, low_ps=min(low, prediction.low_ps))
        if name == "prefetch" and even < 1 - HELPS and then == now:
            what = "prefetch more (tf.data.AUTOTUNE): the buffer is full in some steps and empty in others"
            likely = round(even * measured_ps)
            prediction = replace(prediction, step_ps=likely, low_ps=round(0.9 * likely), high_ps=measured_ps)
        helps = prediction.step_ps <= (1 - HELPS) * measured_ps
        if name == "cache_here":
            takes, fits = footprint.cache(load, where.get(load.stage, ()), machine)
            what, helps = f"{what}, {takes}", helps and fits is not False
        elif name == "prefetch" and (bytes_each := footprint.batch(loads)) is not None:
            what += f" (a batch that waits takes {units.show(bytes_each, 'bytes')})"
        inside = load.stage.nested_in is not None and name not in ("prefetch", "parallelise_reading")
        written = None if inside or name in _NO_LINE else _meant(name, where.get(load.stage, ()))
        unknown = _UNKNOWN.get(name, "") if then is now else ""
        made.append(
            Change(name, load.stage.name, what, prediction, helps, code(name, written, places), unknown)
        )
    return sorted(made, key=lambda change: not change.helps)


def _candidates(
    loads: Sequence[Load], worst: Load, now: Model, measured_ps: int
) -> Iterator[tuple[str, Load, str, Model]]:
    stage, place = worst.stage, worst.stage.spoken
    number = [stage.number]
    upstream = [load.stage.number for load in loads if _is_below(load, worst)]
    short = stage.short

    def in_parallel() -> Model:
        """It runs on threads of its own, and what it takes from on another one."""
        lane = next((part.lane for part in now.parts if part.number == stage.number), None)
        before = [part.number for part in now.parts if part.lane == lane and part.number in upstream]
        thread = now.changed(before, lambda p: replace(p, lane=f"changed:before:{stage.number}"))
        return thread.changed(
            number,
            lambda p: replace(
                p, lane=f"changed:{p.number}", width=now.cores, into=p.lane, bursts=short == "Map"
            ),
        )

    if short == "Map":
        what = f"give {place} num_parallel_calls=tf.data.AUTOTUNE"
        yield "parallelise_map", worst, what, in_parallel()
    elif stage.ahead and not short.startswith(("Prefetch", "ParallelInterleave")):
        if worst.width < now.cores:
            what = f"raise the parallelism of {place} from {worst.width} to tf.data.AUTOTUNE"
            yield "raise_parallelism", worst, what, now.changed(number, lambda p: replace(p, width=now.cores))
        double = replace(now, cores=2 * now.cores, free_cores=now.free_cores + now.cores)
        what = f"give the host {2 * now.cores} cores instead of {now.cores} and leave parallelism to autotune"
        wide = double.changed(number, lambda p: replace(p, width=max(p.width, double.cores)))
        yield "more_cores", worst, what, wide
    yield from _of_functions(loads, worst, now)
    if short == "BatchV2" or short == "PaddedBatch":
        what = (
            f"give {place} num_parallel_calls=tf.data.AUTOTUNE, or batch smaller elements (uint8, not float)"
        )
        yield "parallelise_batch", worst, what, in_parallel()
    if stage.nested_in is not None and stage.nested_in.short.startswith(("Interleave", "FlatMap")):
        inner = [load.stage.number for load in loads if load.stage.nested_in is stage.nested_in]
        branch = f"changed:{stage.nested_in.number}"
        spoken = stage.nested_in.spoken
        yield (
            "parallelise_reading",
            worst,
            f"run several branches of {spoken} at once: num_parallel_calls=tf.data.AUTOTUNE"
            + ("" if "Interleave" in stage.nested_in.short else ", as interleave instead of flat_map"),
            now.changed(inner, lambda p: replace(p, lane=branch, width=now.cores)),
        )
    elif short in _SOURCES or short in ("Interleave", "FlatMap"):
        what = "read several files at once: interleave(…, num_parallel_calls=tf.data.AUTOTUNE)"
        yield (
            "parallelise_reading",
            worst,
            what,
            now.changed(
                [*number, *upstream], lambda p: replace(p, lane=f"changed:{stage.number}", width=now.cores)
            ),
        )
    if short == "MatchingFiles":
        what = f"list the files once, before training, and give the list to from_tensor_slices ({place})"
        yield "list_files_once", worst, what, now.changed(number, lambda p: None)
    if worst.python or short == "Generator":
        what = f"write the Python of {place} as TensorFlow ops: it holds the interpreter's lock"
        yield "drop_python", worst, what, now.changed(number, lambda p: None)
    if short == "Shuffle":
        what = f"shuffle names of files instead of elements, or make the buffer of {place} smaller"
        yield "smaller_shuffle", worst, what, now.changed([*number, *upstream], lambda p: None)
    above = stage.above
    kept = next((load.calls / max(worst.calls, 1) for load in loads if load.stage is above), 1.0)
    if above is not None and above.short.startswith("Filter") and kept < 1 - HELPS:
        what = f"move {above.spoken} in front of {place}, if it can do without what that makes"
        what += f": it keeps {kept:.0%}"

        yield "move_filter", worst, what, now.changed(number, lambda p: _part_of(p, kept))
    if "Cache" not in short and short not in ("Generator",):
        what = f"cache() behind {place}"
        yield "cache_here", worst, what, now.changed([*number, *upstream], lambda p: None)
    half = now.changed(
        number,
        lambda p: replace(p, work_ps=p.work_ps // 2, cpu_ps=p.cpu_ps // 2, pool_ps=p.pool_ps // 2),
    )
    yield "halve_work", worst, f"make the work of {place} half as much", half
    in_program = sum(part.work_ps for part in now.parts if part.lane == PROGRAM)
    if in_program >= HELPS * measured_ps:
        what = "end the pipeline with prefetch(tf.data.AUTOTUNE)"
        moved = tuple(_from_program(part) for part in now.parts)
    else:
        what, moved = "prefetch more: the pipeline works ahead of the program already", now.parts
    yield "prefetch", worst, what, replace(now, parts=moved)
    yield (
        "tf_data_service",
        worst,
        "run the pipeline on other hosts with tf.data service",
        replace(now, parts=()),
    )


def _of_functions(loads: Sequence[Load], worst: Load, now: Model) -> Iterator[tuple[str, Load, str, Model]]:
    """Changes of how the function of a map is run."""
    stage, place = worst.stage, worst.stage.spoken
    if not stage.short.startswith(("Map", "ParallelMap")) or stage.short.startswith("MapAndBatch"):
        return
    many = _batched(loads, worst)
    if many >= 2:
        what = f"batch in front of {place}, so that its function takes {many:.0f} elements at once, if it can"
        # Python may do anything with many elements, and a trace without executors does not say what is spent
        # on calling.
        vector = now
        if not worst.python and worst.between_kernels_ps is not None:
            vector = now.changed([stage.number], lambda p: _at_once(p, worst, many))
        yield "vectorise", worst, what, vector
    if worst.python:
        threads = 4 * now.cores
        what = (
            f"let {threads} functions of {place} wait at once: num_parallel_calls={threads} and "
            f"options.threading.private_threadpool_size = {threads}, if its Python waits and does not compute"
        )
        lane = f"changed:{stage.number}"
        wide = replace(now, cores=threads).changed(
            [stage.number],
            lambda p: replace(
                p, lane=lane, width=threads, into=p.into if stage.ahead else p.lane, bursts=True
            ),
        )
        yield "larger_threadpool", worst, what, wide
    elif worst.pool_ps:
        what = (
            "set options.threading.max_intra_op_parallelism = 1: TensorFlow 2 does so by itself, unless the "
            "program's options say otherwise"
        )
        yield "intra_op_parallelism", worst, what, replace(now)


def _batched(loads: Sequence[Load], worst: Load) -> float:
    """Elements of the stage that a batch behind it takes; 1 when none does."""
    above = worst.stage.above
    while above is not None:
        load = next((load for load in loads if load.stage is above), None)
        if load is not None and "Batch" in above.short and "Unbatch" not in above.short:
            return worst.per_step / load.per_step if load.per_step else 1.0
        above = above.above
    return 1.0


def _part_of(part: Part, share: float) -> Part:
    """The part when it is asked for fewer elements."""
    return _scaled(part, share, share)


def _at_once(part: Part, load: Load, many: float) -> Part:
    """The part when its function is called once for many elements: what kernels take is taken to stay, what
    is spent on calling it and between kernels is spent once."""
    each = min((load.between_kernels_ps or 0) / max(load.work_ps, 1), 1.0)
    left = 1 - each * (1 - 1 / many)
    return _scaled(part, left, 1 / many)


def _scaled(part: Part, work: float, calls: float) -> Part:
    """The part with so much of its work, called so much as often."""
    return replace(
        part,
        work_ps=round(part.work_ps * work),
        cpu_ps=round(part.cpu_ps * work),
        pool_ps=round(part.pool_ps * work),
        handing_ps=round(part.handing_ps * calls),
        handing_cpu_ps=round(part.handing_cpu_ps * calls),
        calls=part.calls * calls,
    )


_UNKNOWN = {
    "vectorise": "how long the function takes for many elements at once is not in the recording",
}


def _from_program(part: Part) -> Part:
    """The part when a prefetch takes what the program took."""
    ends = "changed:end"
    return replace(
        part,
        lane=ends if part.lane == PROGRAM else part.lane,
        into=ends if part.into == PROGRAM else part.into,
    )


_NO_LINE = ("more_cores", "tf_data_service")
"""Changes of something else than the line that the stage was written on."""


def _meant(change: str, written: Sequence[Place]) -> Place | None:
    """The transformation to change, of those that were fused into one stage."""
    if change in ("parallelise_batch", "cache_here"):
        return written[-1] if written else None
    return written[0] if written else None


def _is_below(load: Load, worst: Load) -> bool:
    above = load.stage.above
    while above is not None:
        if above is worst.stage:
            return True
        above = above.above
    return False

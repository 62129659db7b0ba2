"""What can be tried for the stage that limits: each trial is the rate model with something changed.

A rule looks at the stage and yields what fits it, in the words of somebody who would change the program.
Rules that fit the stage come before those that fit all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from stepscope.instruments.pipeline.model import Model, Part
from stepscope.instruments.pipeline.rates import Load
from stepscope.instruments.pipeline.stages import PROGRAM, Stage, placed

HELPS = 0.05
"""A change helps when it takes at least this part off the step."""
_SOURCES = ("TFRecord", "TextLine", "FixedLengthRecord", "SSTable", "RecordIO", "ArrayRecord")


@dataclass(frozen=True)
class Trial:
    """A change: its name, what to do, and the model after it."""

    name: str
    what: str
    then: Model
    unknown: str = ""
    """Why what it gains cannot be told."""


@dataclass(frozen=True)
class Case:
    """The stage that limits, in its pipeline."""

    loads: Sequence[Load]
    worst: Load
    now: Model
    measured_ps: int
    bound: bool = True
    """The program waits for its input."""

    @property
    def stage(self) -> Stage:
        """The stage."""
        return self.worst.stage

    @property
    def number(self) -> list[int]:
        """Its number, as the model wants it."""
        return [self.stage.number]

    @property
    def upstream(self) -> list[int]:
        """Numbers of the stages that feed it."""
        return [load.stage.number for load in self.loads if _is_below(load, self.worst)]

    @property
    def batched(self) -> float:
        """Elements of the stage that a batch behind it takes; 1 when none does."""
        above = self.stage.above
        while above is not None:
            load = next((load for load in self.loads if load.stage is above), None)
            if load is not None and "Batch" in above.short and "Unbatch" not in above.short:
                return self.worst.per_step / load.per_step if load.per_step else 1.0
            above = above.above
        return 1.0

    def in_parallel(self) -> Model:
        """It runs on threads of its own, and what it takes from on another one."""
        now, number = self.now, self.stage.number
        upstream = self.upstream
        lane = next((part.lane for part in now.parts if part.number == number), None)
        before = [part.number for part in now.parts if part.lane == lane and part.number in upstream]
        thread = now.changed(before, lambda p: replace(p, lane=f"changed:before:{number}"))
        bursts = self.stage.short == "Map"
        return thread.changed(
            self.number,
            lambda p: replace(p, lane=f"changed:{p.number}", width=now.cores, into=p.lane, bursts=bursts),
        )


def trials(case: Case) -> Iterator[Trial]:
    """All that can be tried."""
    for rule in _RULES:
        yield from rule(case)


def _more_threads(case: Case) -> Iterator[Trial]:
    """A stage with a function of its own gets more threads, or a host with more cores."""
    stage, now, width = case.stage, case.now, case.worst.width
    if stage.short == "Map":
        what = f"give {stage.spoken} num_parallel_calls=tf.data.AUTOTUNE"
        yield Trial("parallelise_map", what, case.in_parallel())
    elif stage.ahead and not stage.short.startswith(("Prefetch", "ParallelInterleave")):
        mapped = stage.short.startswith(("ParallelMap", "MapAndBatch")) and "MapDataset" in _sequential(stage)
        if mapped and width >= now.cores:
            what = f"give {stage.spoken} num_parallel_calls: TensorFlow runs it in parallel already"
            yield Trial("parallelise_map", what, replace(now))
        if width < now.cores:
            what = f"raise the parallelism of {stage.spoken} from {width} to tf.data.AUTOTUNE"
            then = now.changed(case.number, lambda p: replace(p, width=now.cores))
            yield Trial("raise_parallelism", what, then)
        if case.worst.python:
            return  # more cores do not run more Python
        double = replace(now, cores=2 * now.cores, free_cores=now.free_cores + now.cores)
        what = f"give the host {2 * now.cores} cores instead of {now.cores} and leave parallelism to autotune"
        wide = double.changed(case.number, lambda p: replace(p, width=max(p.width, double.cores)))
        yield Trial("more_cores", what, wide)


def _vectorise(case: Case) -> Iterator[Trial]:
    """The function of a map takes many elements at once."""
    many, worst = case.batched, case.worst
    if not _has_function(case.stage) or many < 2:
        return
    what = (
        f"batch before {case.stage.spoken}, so that its function takes {many:.0f} elements at once, if it can"
    )
    # Python may do anything with many elements, and a trace without executors does not say what is spent
    # on calling.
    if worst.python or worst.between_kernels_ps is None:
        why = "the recording does not show how long the function takes for many elements at once"
        yield Trial("vectorise", what, case.now, why)
    else:
        yield Trial("vectorise", what, case.now.changed(case.number, lambda p: _at_once(p, worst, many)))


def _threads_of_functions(case: Case) -> Iterator[Trial]:
    """The function of a map runs on other threads."""
    stage, now = case.stage, case.now
    if not _has_function(stage):
        return
    if case.worst.python:
        threads = 4 * now.cores
        what = (
            f"let {threads} functions of {stage.spoken} wait at once: num_parallel_calls={threads} and "
            f"options.threading.private_threadpool_size = {threads}, if its Python waits and does not compute"
        )
        lane = f"changed:{stage.number}"
        wide = replace(now, cores=threads).changed(
            case.number,
            lambda p: replace(
                p, lane=lane, width=threads, into=p.into if stage.ahead else p.lane, bursts=True
            ),
        )
        yield Trial("larger_threadpool", what, wide)
    elif case.worst.pool_ps:
        what = (
            "set options.threading.max_intra_op_parallelism = 1: TensorFlow 2 does so by itself, unless the "
            "program's options say otherwise"
        )
        yield Trial("intra_op_parallelism", what, replace(now))


def _parallel_batch(case: Case) -> Iterator[Trial]:
    if case.stage.short == "BatchV2":
        calls = "num_parallel_calls=tf.data.AUTOTUNE"
        what = f"give {case.stage.spoken} {calls}, or batch smaller elements (uint8, not float)"
        yield Trial("parallelise_batch", what, case.in_parallel())


def _parallel_reading(case: Case) -> Iterator[Trial]:
    """Several files, or branches, are read at once."""
    stage, now, outer = case.stage, case.now, case.stage.nested_in
    if stage.short == "Generator":
        return  # from_generator() has a flat_map of its own around the one generator
    if outer is not None and outer.short.startswith(("Interleave", "FlatMap")):
        inner = [load.stage.number for load in case.loads if load.stage.nested_in is outer]
        branch = f"changed:{outer.number}"
        what = f"run several branches of {outer.spoken} at once: num_parallel_calls=tf.data.AUTOTUNE"
        what += "" if "Interleave" in outer.short else ", as interleave instead of flat_map"
        then = now.changed(inner, lambda p: replace(p, lane=branch, width=now.cores))
        yield Trial("parallelise_reading", what, then, _few_branches(case, outer))
    elif stage.short in _SOURCES or stage.short in ("Interleave", "FlatMap"):
        what = "read several files at once: interleave(…, num_parallel_calls=tf.data.AUTOTUNE)"
        lane = f"changed:{stage.number}"
        numbers = [*case.number, *case.upstream]
        then = now.changed(numbers, lambda p: replace(p, lane=lane, width=now.cores))
        why = (
            ""
            if stage.short in ("Interleave", "FlatMap")
            else "the recording does not show how many files there are"
        )
        yield Trial("parallelise_reading", what, then, why)


def _few_branches(case: Case, outer: Stage) -> str:
    """Why running branches at once may gain nothing: only one was seen. Each makes iterators of its own."""
    heads = [load.stage for load in case.loads if load.stage.above is outer and load.stage.nested_in is outer]
    seen = max((len({call.stage for call in head.calls}) for head in heads), default=0)
    return "" if seen > 1 else "the recording shows only one branch"


def _less_listing(case: Case) -> Iterator[Trial]:
    if case.stage.short == "MatchingFiles":
        what = "list the files once, before training, and give the list to from_tensor_slices"
        yield Trial(
            "list_files_once", f"{what} ({case.stage.spoken})", case.now.changed(case.number, _nothing)
        )


def _no_python(case: Case) -> Iterator[Trial]:
    if case.worst.python or case.stage.short == "Generator":
        what = f"rewrite the Python of {case.stage.spoken} with TensorFlow ops: it holds the interpreter lock"
        yield Trial("drop_python", what, case.now.changed(case.number, _nothing))


def _less_shuffling(case: Case) -> Iterator[Trial]:
    if case.stage.short == "Shuffle":
        what = (
            f"shuffle names of files instead of elements, or make the buffer of {case.stage.spoken} smaller"
        )
        yield Trial("smaller_shuffle", what, case.now.changed([*case.number, *case.upstream], _nothing))


def _filter_first(case: Case) -> Iterator[Trial]:
    above = case.stage.above
    made = max(case.worst.calls, 1)
    kept = next((load.calls / made for load in case.loads if load.stage is above), 1.0)
    if above is not None and above.short.startswith("Filter") and kept < 1 - HELPS:
        what = f"move {above.spoken} before {case.stage.spoken}, if it does not need what that makes"
        then = case.now.changed(case.number, lambda p: part_of(p, kept))
        yield Trial("move_filter", f"{what}: it keeps {kept:.0%}", then)


def _cache(case: Case) -> Iterator[Trial]:
    above: Stage | None = case.stage
    cached = False
    while above is not None and not cached:
        cached, above = "Cache" in above.short, above.above
    if not cached and case.stage.short != "Generator":
        then = case.now.changed([*case.number, *case.upstream], _nothing)
        yield Trial("cache_here", f"add cache() after {case.stage.spoken}", then)


def _half(case: Case) -> Iterator[Trial]:
    half = case.now.changed(
        case.number,
        lambda p: replace(p, work_ps=p.work_ps // 2, cpu_ps=p.cpu_ps // 2, pool_ps=p.pool_ps // 2),
    )
    yield Trial("halve_work", f"halve the work of {case.stage.spoken}", half)


def _prefetch(case: Case) -> Iterator[Trial]:
    now = case.now
    in_program = sum(part.work_ps for part in now.parts if part.lane == PROGRAM)
    if in_program >= HELPS * case.measured_ps:
        what = "end the pipeline with prefetch(tf.data.AUTOTUNE)"
        moved = tuple(_from_program(part) for part in now.parts)
    else:
        what, moved = "prefetch more: the pipeline already works ahead of the program", now.parts
    yield Trial("prefetch", what, replace(now, parts=moved))


def _elsewhere(case: Case) -> Iterator[Trial]:
    if not case.bound:
        return  # nobody waits for the pipeline
    what = "run the pipeline on other hosts with tf.data service"
    unknown = "it gains what those hosts add, up to all of the waiting"
    yield Trial("tf_data_service", what, replace(case.now, parts=()), unknown)


_RULES: tuple[Callable[[Case], Iterator[Trial]], ...] = (
    _more_threads,
    _vectorise,
    _threads_of_functions,
    _parallel_batch,
    _parallel_reading,
    _less_listing,
    _no_python,
    _less_shuffling,
    _filter_first,
    _cache,
    _half,
    _prefetch,
    _elsewhere,
)


def _sequential(stage: Stage) -> list[str]:
    """Transformations of the stage that the program wrote without num_parallel_calls."""
    return [f"{kind}Dataset" for kind, _ in placed(stage.user_stage) if not kind.startswith("Parallel")]


def _has_function(stage: Stage) -> bool:
    """Whether it is a map, whose function can be called otherwise."""
    return stage.short.startswith(("Map", "ParallelMap")) and not stage.short.startswith("MapAndBatch")


def _nothing(part: Part) -> None:
    """The part is gone."""


def part_of(part: Part, share: float) -> Part:
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


def _from_program(part: Part) -> Part:
    """The part when a prefetch takes what the program took."""
    ends = "changed:end"
    return replace(
        part,
        lane=ends if part.lane == PROGRAM else part.lane,
        into=ends if part.into == PROGRAM else part.into,
    )


def _is_below(load: Load, worst: Load) -> bool:
    above = load.stage.above
    while above is not None:
        if above is worst.stage:
            return True
        above = above.above
    return False

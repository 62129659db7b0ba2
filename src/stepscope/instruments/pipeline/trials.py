"""Trials for the stage that limits: each is the rate model with one thing changed.

A rule looks at the stage and yields the trials that suit it. Rules for certain stages come before those for
all. The wording of trials is in report/.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace

from stepscope.instruments.pipeline import copies
from stepscope.instruments.pipeline.chain import READERS
from stepscope.instruments.pipeline.model import PipelineModel
from stepscope.instruments.pipeline.model_parts import moved_from_program, nothing, part_of, vectorized
from stepscope.instruments.pipeline.stages import PROGRAM, PipelineStage, placed
from stepscope.instruments.pipeline.trial_case import THREADING, Case, Trial, Unknown, autotune, threading

HELPS = 0.05
"""A change helps when it shortens the step by at least this part."""


def trials(case: Case) -> Iterator[Trial]:
    """All trials for a case."""
    for rule in _RULES:
        yield from rule(case)


def _more_threads(case: Case) -> Iterator[Trial]:
    """A stage with a function of its own gets more threads, or the host more cores."""
    stage, now, width = case.stage, case.now, case.worst.width
    if stage.short == "Map":
        yield Trial("parallelise_map", case.facts("sequential"), case.parallelized())
    elif stage.ahead and not stage.short.startswith(("Prefetch", "ParallelInterleave")):
        mapped = stage.short.startswith(("ParallelMap", "MapAndBatch")) and "MapDataset" in _sequential(stage)
        if mapped and width >= now.threads and case.tells_threads:
            yield Trial("parallelise_map", case.facts("parallel_already"), replace(now))
        tuned = stage.args.get("autotune") in ("true", "1")
        if width < now.threads or not (tuned or case.tells_threads):
            then = now.changed(case.number, lambda p: replace(p, width=max(p.width, now.threads)))
            yield Trial("raise_parallelism", case.facts(width=width), then)
        if case.worst.python or not case.tells_cores:
            return  # more cores do not run more Python
        double = replace(now, cores=2 * now.cores, free_cores=now.free_cores + now.cores)
        wide = double.changed(case.number, lambda p: replace(p, width=max(p.width, double.threads)))
        yield Trial("more_cores", case.facts(cores=now.cores), wide)


def _vectorise(case: Case) -> Iterator[Trial]:
    """The function of a map takes many elements at once."""
    many, worst = case.batched, case.worst
    if not (case.has_function or case.is_fused) or many < 2:
        return
    facts = case.facts("fused" if case.is_fused else "alone", elements=many)
    # Python may do anything with many elements, and a trace without executors does not show the time
    # of calls.
    if worst.python or worst.between_kernels_ps is None:
        yield Trial("vectorise", facts, case.now, "many_at_once")
    else:
        yield Trial("vectorise", facts, case.now.changed(case.number, lambda p: vectorized(p, worst, many)))


def _threads_of_functions(case: Case) -> Iterator[Trial]:
    """The function of a map runs on other threads."""
    stage, now = case.stage, case.now
    if not case.has_function:
        return
    if case.worst.python:
        threads = 4 * now.threads
        lane = f"changed:{stage.number}"
        wide = replace(now, pool=threads).changed(
            case.number,
            lambda p: replace(
                p, lane=lane, width=threads, into=p.into if stage.ahead else p.lane, bursts=True
            ),
        )
        yield Trial("larger_threadpool", case.facts(threads=threads), wide)
    elif case.worst.pool_ps and threading(case.loads) == THREADING:
        yield Trial("intra_op_parallelism", case.facts("by_default"), replace(now))
    elif case.worst.pool_ps:
        yield Trial("intra_op_parallelism", case.facts("by_options"), replace(now), "ops")


def _parallel_batch(case: Case) -> Iterator[Trial]:
    if case.stage.short == "BatchV2":
        yield Trial("parallelise_batch", case.facts(), case.parallelized())


def _parallel_reading(case: Case) -> Iterator[Trial]:
    """Several files, or branches, are read at once."""
    stage, now, outer = case.stage, case.now, case.stage.nested_in
    if stage.short == "Generator":
        return  # from_generator() adds a flat_map around the one generator
    if outer is not None and outer.short.startswith(("Interleave", "FlatMap")):
        yield _several_at_once(case, outer)
    elif outer is not None and outer.short.startswith("ParallelInterleave"):
        width = outer.parallelism
        if width is not None and width < now.threads and outer.args.get("autotune") != "true":
            then = _parallel_branches(case, outer, _branches(case, outer))
            yield Trial("raise_parallelism", case.facts_of(outer, width=width), then)
    elif stage.short in READERS or stage.short in ("Interleave", "FlatMap"):
        lane = f"changed:{stage.number}"
        numbers = [*case.number, *case.upstream]
        then = now.changed(numbers, lambda p: replace(p, lane=lane, width=now.threads))
        yield Trial(
            "parallelise_reading", case.facts("files"), then, "files" if stage.short in READERS else ""
        )


def _several_at_once(case: Case, outer: PipelineStage) -> Trial:
    """Reads several inputs of the interleave or flat_map around the stage at once."""
    number, reads = _branches(case, outer), case.stage.short in READERS
    way = "interleave" if "Interleave" in outer.short else "files" if reads else "flat_map"
    facts = case.facts_of(outer, way)
    unknown: Unknown = "" if number > 1 else "one_file" if reads else "one_branch"
    return Trial("parallelise_reading", facts, _parallel_branches(case, outer, number), unknown)


def _parallel_branches(case: Case, outer: PipelineStage, branches: int) -> PipelineModel:
    """The model when an interleave runs its branches at once, as many as the pool has threads."""
    inner = [load.stage.number for load in case.loads if load.stage.nested_in is outer]
    width = min(branches, case.now.threads) if branches > 1 else case.now.threads
    return case.now.changed(inner, lambda p: replace(p, lane=f"changed:{outer.number}", width=width))


def _branches(case: Case, outer: PipelineStage) -> int:
    """Branches of an interleave or a flat_map, mostly files. Each of its iterators makes its own, so later
    epochs add none."""
    heads = [load.stage for load in case.loads if load.stage.above is outer and load.stage.nested_in is outer]
    found: defaultdict[tuple[int, str | None], set[str | None]] = defaultdict(set)
    for head in heads:
        for call in head.calls:
            found[head.number, call.consumer].add(call.iterator)
    return max(map(len, found.values()), default=0)


def _any_order(case: Case) -> Iterator[Trial]:
    """A stage that works on several elements at once passes them on as soon as they are ready."""
    for stage in (case.stage, case.stage.nested_in):
        if stage is not None and stage.ahead and stage.args.get("deterministic") == "true":
            yield Trial("any_order", case.facts_of(stage), case.now, "order")


def _copies(case: Case) -> Iterator[Trial]:
    """Several copies of the pipeline, up to a stage that cannot run in parallel, each for a shard."""
    stages = [load.stage for load in case.loads]
    if not copies.possible(case.stage, stages):
        return
    now = case.now
    number = copies.number(now.cores, now.threads, python=case.worst.python)
    inside = copies.stages_of_copies(case.stage, stages)
    outer = next((stage.nested_in for stage in inside if stage.nested_in is not None), None)
    reads = any(stage.short in READERS for stage in inside)
    unknown: Unknown = "one_file" if reads and (outer is None or _branches(case, outer) < 2) else ""
    code = copies.code(inside, number, autotune(case.loads))
    then = now.changed(
        [stage.number for stage in inside], lambda p: copies.part(p, case.stage.lane, number, now.threads)
    )
    then = replace(then, parts=tuple(moved_from_program(part) for part in then.parts))
    yield Trial("outer_parallelism", case.facts(copies=number, code=code), then, unknown)


def _less_listing(case: Case) -> Iterator[Trial]:
    if case.stage.short == "MatchingFiles":
        yield Trial("list_files_once", case.facts(), case.now.changed(case.number, nothing))


def _no_python(case: Case) -> Iterator[Trial]:
    if case.worst.python or case.stage.short == "Generator":
        yield Trial("drop_python", case.facts(), case.now.changed(case.number, nothing))


def _less_shuffling(case: Case) -> Iterator[Trial]:
    if case.stage.short == "Shuffle":
        way = "names" if case.stage.lists_files else "elements"
        then = case.now.changed([*case.number, *case.upstream], nothing)
        yield Trial("smaller_shuffle", case.facts(way), then)


def _filter_first(case: Case) -> Iterator[Trial]:
    above = case.stage.above
    made = max(case.worst.calls, 1)
    kept = next((load.calls / made for load in case.loads if load.stage is above), 1.0)
    if above is not None and above.short.startswith("Filter") and kept < 1 - HELPS:
        then = case.now.changed(case.number, lambda p: part_of(p, kept))
        yield Trial("move_filter", case.facts(filter=above.spoken, kept=kept), then)


def _cache(case: Case) -> Iterator[Trial]:
    """A cache after the stage; for a stage made by a function, after the one with the function: a cache
    inside a function starts empty at each call."""
    load = case.outside
    above: PipelineStage | None = load.stage
    cached = False
    while above is not None and not cached:
        cached, above = "Cache" in above.short, above.above
    if not cached and case.stage.short != "Generator":
        gone = [feeding.stage.number for feeding in (load, *case.fed_by(load))]
        yield Trial("cache_here", case.facts_of(load.stage), case.now.changed(gone, nothing))


def _half(case: Case) -> Iterator[Trial]:
    if case.stage.repeats:
        return  # a repeat has no work that a program could make less
    half = case.now.changed(
        case.number,
        lambda p: replace(p, work_ps=p.work_ps // 2, cpu_ps=p.cpu_ps // 2, pool_ps=p.pool_ps // 2),
    )
    yield Trial("halve_work", case.facts(), half)


def _prefetch(case: Case) -> Iterator[Trial]:
    now = case.now
    in_program = sum(part.work_ps for part in now.parts if part.lane == PROGRAM)
    if case.ends.prefetch == "none" or in_program >= HELPS * case.measured_ps:
        way, moved = "at_the_end", tuple(moved_from_program(part) for part in now.parts)
    else:
        way, moved = "ahead_already", now.parts
    yield Trial("prefetch", case.facts(way), replace(now, parts=moved))


def _elsewhere(case: Case) -> Iterator[Trial]:
    if not case.bound:
        return  # nobody waits for the pipeline
    yield Trial("tf_data_service", case.facts(), replace(case.now, parts=()), "other_hosts")


_RULES: tuple[Callable[[Case], Iterator[Trial]], ...] = (
    _more_threads,
    _vectorise,
    _threads_of_functions,
    _parallel_batch,
    _copies,
    _parallel_reading,
    _any_order,
    _less_listing,
    _no_python,
    _less_shuffling,
    _filter_first,
    _cache,
    _half,
    _prefetch,
    _elsewhere,
)


def _sequential(stage: PipelineStage) -> list[str]:
    """Transformations of the stage that the program wrote without num_parallel_calls."""
    return [f"{kind}Dataset" for kind, _ in placed(stage.user_stage) if not kind.startswith("Parallel")]

"""The tree of a source's stages: which iterators are one stage, which stage consumes which, which of them
work ahead, and where each lies in the user's chain.

Names of iterators are not keys: a distribution strategy runs a pipeline for each device and one on the host,
and all begin with `Iterator::Root::Prefetch`. Following parent ids to the root distinguishes them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial

from stepscope.instruments.intervals import length, shared, union
from stepscope.instruments.pipeline import tf1_calls
from stepscope.instruments.pipeline.calls import StageCall
from stepscope.instruments.pipeline.stages import PipelineStage, placed, reader_of, written

_RUN_INDEX = re.compile(r"(?<!Zip)(?<!DirectedInterleave)(?<!Concatenate)\[\d+\]")
"""The index of an iterator, but not that of a branch."""
_WORKS_AHEAD = re.compile(r"(Legacy)?(Prefetch|Parallel\w+|MapAndBatch|MapAndBatchV2|DataService)(V\d+)?$")
_MAKES = re.compile(r"(FlatMap|(Legacy)?(Parallel)?Interleave|GroupByWindow)(V\d+)?$")
_SOURCES = frozenset(
    {
        "Range", "Tensor", "TensorSlice", "SparseTensorSlice", "Generator", "MatchingFiles", "Random",
        "TFRecord", "TextLine", "FixedLengthRecord", "DataService",
    }
)  # fmt: skip
"""Kinds of datasets that begin a chain."""
_WITHIN = 0.9
"""What is taken within calls of another pipeline is taken for it, where so much of its time lies in them."""


def build(calls: Sequence[StageCall]) -> tuple[list[PipelineStage], dict[str, PipelineStage]]:
    """The stages of a source, consumers first, and the stage of each iterator id. Ids that collide, parents
    that form a circle and parents that were never recorded end in stages without a consumer, never in a
    loop."""
    names, parents = _named(calls)
    pipelines = _pipelines(calls, names, parents)
    stages = _stages_of(calls, pipelines)
    for iterator, name in names.items():
        if tf1_calls.is_unnumbered(iterator):
            stages.setdefault((pipelines[iterator], name), PipelineStage(0, pipelines[iterator], name, None))
    of = {i: stages[pipelines[i], names[i]] for i in names if (pipelines[i], names[i]) in stages}
    _link(of, parents)
    _find_ahead(stages.values(), of)
    taken = {stage.pipeline for stage in stages.values() if any(call.takes_batch for call in stage.calls)}
    for stage in stages.values():
        stage.taken = stage.pipeline in taken
    ordered = _ordered(stages.values())
    for number, stage in enumerate(ordered):
        stage.number = number
    takes = [call for call in calls if call.kind == "next"]
    if not any("name" in call.args and "id" in call.args for call in takes):  # until TensorFlow 2.3
        called = ((call.name, of[call.stage]) for call in takes if call.stage in of)
        tf1_calls.name(ordered, (*of.items(), *called))
    _feed(ordered)
    _count_from_source(ordered)
    for stage in ordered:
        _place(stage)
        if stage.above is not None and stage.nested_in in (stage.above, stage.above.nested_in):
            _name_reader(stage, stage.above)
        stage.lane = f"function:{stage.number}" if stage.ahead else stage.consumer_lane
    return ordered, of


def _stages_of(
    calls: Sequence[StageCall], pipelines: Mapping[str, int]
) -> dict[tuple[int, str], PipelineStage]:
    """The stages by pipeline and name, each with its calls."""
    stages: dict[tuple[int, str], PipelineStage] = {}
    seen: dict[tuple[int, str], int] = {}
    for call in calls:
        if call.kind != "next" or call.stage is None:
            continue
        key = (pipelines[call.stage], _unindexed(call.name))
        stage = stages.get(key)
        if stage is None:
            name = str(call.args.get("name", ""))
            root = call.name == "Iterator::Root"
            stage = stages[key] = PipelineStage(0, key[0], key[1], None if root else written(name))
        if seen.get(key) != id(call.args):  # which the calls of an iterator share
            seen[key] = id(call.args)
            if stage.user_stage is not None:
                stage.user_stage = _made_first(stage.user_stage, written(str(call.args.get("name", ""))))
            stage.args.update(call.args)
            stage.args.update(tf1_calls.labelled(call.args))
        stage.calls.append(call)
    return stages


def _made_first(user_stage: str, other: str | None) -> str:
    """Of the transformations of two iterators that are called alike, those with the lower numbers: TensorFlow
    numbers all that a program makes, and stages are numbered in one chain only if all are of the first."""
    numbers = [number for _, number in placed(other)]
    if other is None or not numbers or numbers >= [number for _, number in placed(user_stage)]:
        return user_stage
    return other


@lru_cache(maxsize=4096)
def _unindexed(name: str) -> str:
    return _RUN_INDEX.sub("", name)


def _named(calls: Sequence[StageCall]) -> tuple[dict[str, str], dict[str, str | None]]:
    """The name and the consumer of each iterator id."""
    names: dict[str, str] = {}
    parents: dict[str, str | None] = {}
    for call in calls:
        if call.kind == "next" and call.stage is not None:
            names.setdefault(call.stage, _unindexed(call.name))
            parents.setdefault(call.stage, call.consumer)
            above = call.consumer if call.is_unnumbered else None
            while above is not None and above not in names:
                # A call that lasts longer than the recording is not in it.
                names[above], parents[above] = _unindexed(above), tf1_calls.consumer(above)
                above = parents[above]
    return names, parents


def _roots(parents: dict[str, str | None]) -> dict[str, str]:
    """The root of each iterator; in a circle, one of its members."""
    roots: dict[str, str] = {}
    for iterator in parents:
        way: list[str] = []
        seen: set[str] = set()
        at = iterator
        while at not in roots and at not in seen:
            seen.add(at)
            way.append(at)
            above = parents.get(at)
            if above is None or above not in parents:
                break
            at = above
        root = roots.get(at, at)
        for passed in way:
            roots[passed] = root
    return roots


def _pipelines(
    calls: Sequence[StageCall], names: dict[str, str], parents: dict[str, str | None]
) -> dict[str, int]:
    """The number of each iterator's pipeline: roots with the same stages are replicas or epochs of one
    pipeline."""
    roots = _roots(parents)
    shape: defaultdict[str, set[str]] = defaultdict(set)
    for iterator, root in roots.items():
        shape[root].add(names[iterator])
    taken: Counter[str] = Counter()
    for call in calls:
        if call.takes_batch and call.stage is not None:
            taken[roots[call.stage]] += call.end_ps - call.ts_ps + 1
    # Those that the program takes from come first, the longest wait first.
    order = sorted(shape, key=lambda root: (-taken[root], -len(shape[root]), root))
    number: dict[str, int] = {}
    heads: list[str] = []
    for root in order:
        # A pipeline whose consumer was never recorded is known by its names alone.
        orphan = parents.get(root) is not None and parents[root] not in parents
        for i, head in enumerate(heads):
            if shape[root] <= shape[head] and (orphan or bool(taken[root]) == bool(taken[head])):
                number[root] = i
                break
        else:
            number[root] = len(heads)
            heads.append(root)
    return {iterator: number[root] for iterator, root in roots.items()}


def _link(of: dict[str, PipelineStage], parents: dict[str, str | None]) -> None:
    """Gives each stage its consumer: that of most of its iterators."""
    votes: defaultdict[PipelineStage, Counter[PipelineStage]] = defaultdict(Counter)
    for iterator, stage in of.items():
        above = parents.get(iterator)
        if above in of and of[above] is not stage:
            votes[stage][of[above]] += 1
    for stage, counted in votes.items():
        stage.above = max(counted, key=lambda s: (counted[s], s.branch_name))
    sound: set[int] = set()
    for stage in votes:
        way: list[PipelineStage] = []
        inside: set[int] = set()
        at: PipelineStage | None = stage
        while at is not None and id(at) not in sound:
            if id(at) in inside:  # parents in a circle: it is cut where it closes
                way[-1].above = None
                break
            inside.add(id(at))
            way.append(at)
            at = at.above
        sound |= inside


def _feed(stages: Collection[PipelineStage]) -> None:
    """Links the pipelines of devices with the host's: a Generator on a device takes what a
    MultiDeviceIterator took from the host's root on a thread of its own."""
    roots = [
        stage
        for stage in stages
        if stage.above is None
        and not stage.taken
        and any(call.track.startswith(tf1_calls.FEEDS_DEVICES) for call in stage.calls)
    ]
    generators = [stage for stage in stages if stage.taken and stage.short == "Generator"]
    roots = roots or _copied(stages, generators)
    if len(roots) == 1:
        for generator in generators:
            generator.fed_by = roots[0]
            generator.user_stage = None


def _copied(stages: Collection[PipelineStage], generators: list[PipelineStage]) -> list[PipelineStage]:
    """The root whose batches copy_to_device() hands on: a Generator of the pipeline that the program takes
    from asks for them within its own calls. Leaves only such ones among the generators: from_generator()
    makes its own within a flat_map."""
    copying = [
        stage for stage in generators if stage.above is not None and not _MAKES.match(stage.above.short)
    ]
    handing = {stage.pipeline for stage in copying}
    asking = union((call.ts_ps, call.end_ps) for stage in copying for call in stage.calls)
    found = []
    for root in stages:
        made = [(call.ts_ps, call.end_ps) for call in root.calls]
        apart = root.above is None and root.pipeline not in handing
        if apart and made and shared(made, asking) >= _WITHIN * length(made):
            found.append(root)
    if len(found) == 1:
        generators[:] = copying
    return found


def _ordered(stages: Collection[PipelineStage]) -> list[PipelineStage]:
    """By pipeline, consumers before their inputs."""
    below: defaultdict[int, list[PipelineStage]] = defaultdict(list)
    level = []
    for stage in stages:
        if stage.above is None:
            level.append(stage)
        else:
            below[id(stage.above)].append(stage)
    found: list[PipelineStage] = []
    while level:
        found += sorted(level, key=lambda s: s.branch_name)
        level = [pipeline_stage for stage in level for pipeline_stage in below[id(stage)]]
    return sorted(found, key=lambda s: s.pipeline)


def _count_from_source(stages: Sequence[PipelineStage]) -> None:
    """Numbers each pipeline's transformations from its own source on. TensorFlow numbers the datasets of a
    process, so a second chain continues where the first one ends."""
    least: dict[int, tuple[int, str]] = {}
    for stage in stages:
        for kind, number in placed(stage.user_stage):
            least[stage.pipeline] = min(least.get(stage.pipeline, (number, kind)), (number, kind))
    for stage in stages:
        less, kind = least.get(stage.pipeline, (0, ""))
        if stage.user_stage and less and kind in _SOURCES:
            stage.user_stage = re.sub(r"(?<=:)\d+", partial(_lowered, less=less), stage.user_stage)


def _lowered(number: re.Match[str], less: int) -> str:
    return str(int(number[0]) - less)


def _place(stage: PipelineStage) -> None:
    """Finds the position of a stage in the user's chain, from that of its consumer. Numbers count from the
    source, and functions come after all chains, so an input of flat_map or interleave with a higher number is
    made by its function."""
    above = stage.above
    position = next((number for _, number in placed(stage.user_stage)), None)
    while above is not None and above.position is None:
        above = above.above
    if above is None or above.position is None:
        stage.position = position
    elif above.nested_in is not None:
        stage.nested_in, stage.position = above.nested_in, above.position
    elif position is None or position < above.position:
        stage.position = position
    elif _MAKES.match(above.short):
        stage.nested_in, stage.position = above, above.position
    elif above is stage.above and above.position == 1:
        # A rewrite renumbered it: the input of the first transformation is the source all the same.
        stage.position = 0


def _name_reader(stage: PipelineStage, above: PipelineStage) -> None:
    """What reads files does so in the function of a flat_map over their names, which is the reader's as well.
    A flat_map that the user wrote has that one in its function."""
    reader = reader_of(stage.user_stage)
    if above is stage.nested_in:
        stage.reader = above.reader = reader or above.reader
    elif reader is not None and above.short.startswith("FlatMap"):
        above.reader = reader


def _find_ahead(stages: Collection[PipelineStage], of: dict[str, PipelineStage]) -> None:
    """A stage works ahead when its input is called outside its own calls, or when its kind always does."""
    inside: Counter[tuple[PipelineStage, bool]] = Counter()
    for stage in stages:
        for call in stage.calls:
            consumer = of.get(call.consumer or "")
            if consumer is None:
                continue
            if call.is_unnumbered:
                # The call around it may have begun before the recording, so only kinds count.
                continue
            above = call.above
            while above is not None and above.kind != "next":
                above = above.above
            inside[consumer, above is not None and above.iterator == call.consumer] += 1
    for stage in stages:
        outside = inside[stage, False] > inside[stage, True]
        # Without a buffer, a prefetch calls its input when it is called itself.
        nothing = stage.short.startswith("Prefetch") and stage.number_of("buffer_limit") == 0
        stage.ahead = outside or (bool(_WORKS_AHEAD.match(stage.short)) and not nothing)

"""Stages: iterators of the same place in the pipeline, as one, and where the user wrote them.

An iterator is one instance; repeat and flat_map make thousands of them. Their slices are named alike but
for indices, so a stage is what has the same long name in the same pipeline. Names are not keys: a
distribution strategy runs a pipeline for each device and one on the host, and all begin with
`Iterator::Root::Prefetch`. Following parent ids to the root distinguishes them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

from stepscope.instruments.pipeline import tf1_calls
from stepscope.instruments.pipeline.calls import StageCall

_FEW_STEPS = 4
"""Fewer steps do not tell what each of them does."""
_INDEX = re.compile(r"\[\d+\]")
_RUN_INDEX = re.compile(r"(?<!Zip)(?<!DirectedInterleave)(?<!Concatenate)\[\d+\]")
_PLACED = re.compile(r"(\w+?)Dataset(V\d+)?:(\d+)")
_WORKS_AHEAD = re.compile(r"(Legacy)?(Prefetch|Parallel\w+|MapAndBatch|MapAndBatchV2|DataService)(V\d+)?$")

_MAKES = re.compile(r"(FlatMap|(Legacy)?(Parallel)?Interleave)(V\d+)?$")
_WORDS = {
    "Tensor": "from_tensors",
    "TensorSlice": "from_tensor_slices",
    "MatchingFiles": "list_files",
    "TFRecord": "TFRecordDataset",
    "TextLine": "TextLineDataset",
    "FixedLengthRecord": "FixedLengthRecordDataset",
}


_DIGITS = 18
"""Longer numbers are no numbers of threads or elements."""
PROGRAM = "program"
"""The lane of stages that run when the program asks for a batch, and not before."""
THREAD = "thread:"
"""How the lanes begin of threads in which a stage works ahead and calls its input."""


@dataclass(eq=False)
class PipelineStage:
    """A stage as TensorFlow ran it. Times are not here: see rates."""

    number: int
    pipeline: int
    """Number of its pipeline; 0 is the one the program takes batches from."""
    branch_name: str
    """Long name with the branch of a zip, a mixture or a concatenation."""
    user_stage: str | None
    """As in the stat `name`: MapDataset:2 is the third transformation; None when TensorFlow added it."""
    above: PipelineStage | None = None
    ahead: bool = False
    """It works on threads of its own, ahead of its consumer."""
    taken: bool = False
    """The program itself takes batches from its pipeline."""
    fed_by: PipelineStage | None = None
    """Root of the host's pipeline that it hands over to a device, under a distribution strategy."""
    nested_in: PipelineStage | None = None
    """The stage whose function made it, as interleave does; None when it is in the user's chain."""
    position: int | None = None
    """Place of its (first) transformation in the user's chain, counted from 0 at the source; that of the
    transformation it is inside of, for a stage inside of a function. None when TensorFlow put it in."""
    lists_files: bool = False
    """It is a part of what list_files wrote; see chain."""
    lane: str = ""
    """What it runs on: program, function:N (of stage N), thread:N (in which stage N works ahead)."""
    args: dict[str, object] = field(default_factory=dict)
    calls: list[StageCall] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Long name without any index."""
        return _INDEX.sub("", self.branch_name)

    @property
    def short(self) -> str:
        """The last part of the name, as ParallelMapV2."""
        return self.name.rpartition("::")[2]

    @property
    def branch(self) -> str:
        """As in branch()."""
        return branch(self.branch_name)

    @property
    def spoken(self) -> str:
        """The user's transformation as a person says it: map (transformation 2)."""
        return self.told("{} (transformation {})")

    def told(self, form: str) -> str:
        """The same in another form, for a word and a number."""
        outer = self.nested_in
        written = ["list_files"] if self.lists_files else words(self.user_stage)
        if outer is not None:
            return f"{' with '.join(written)} inside {outer.told(form)}"
        if self.position is None:
            return " with ".join(written) or f"{self.short}, added by TensorFlow"
        return " with ".join(map(form.format, written, self.positions))

    @property
    def positions(self) -> list[int]:
        """Places in the user's chain of all its transformations; none where TensorFlow put it in."""
        if self.position is None:
            return []
        numbers = [int(place) for _, _, place in _PLACED.findall(self.user_stage or "")]
        return numbers if len(numbers) > 1 else [self.position]

    @property
    def parallelism(self) -> int | None:
        """Calls of its function that may run at once; None when it is not told."""
        return self.number_of("parallelism") or None

    def number_of(self, key: str) -> int | None:
        """What the recording says under a key, if it is a number and not negative."""
        value = str(self.args.get(key))
        return int(value) if value.isdecimal() and value.isascii() and len(value) <= _DIGITS else None


def branch(branch_name: str) -> str:
    """The last part of a long name, from the branch on where it is in one of several:
    Zip[1]::ParallelMapV2."""
    parts = branch_name.split("::")
    indexed = [number for number, part in enumerate(parts) if part.endswith("]")]
    return "::".join(parts[indexed[-1] if indexed else -1 :])


def written(name: str) -> str | None:
    """The user's transformation of the stat `name`, None when TensorFlow put it in."""
    return None if not name or name.startswith("inject/") or not _PLACED.search(name) else name


def _number(user_stage: str | None) -> int | None:
    found = _PLACED.search(user_stage or "")
    return int(found[3]) if found else None


def placed(user_stage: str | None) -> list[tuple[str, int]]:
    """Kind and number of each of them: ("Map", 2), ("Batch", 3)."""
    return [(kind, int(number)) for kind, _, number in _PLACED.findall(user_stage or "")]


def made_in_steps(made: int, steps: int) -> bool:
    """Whether so many iterators in so many steps are one for most of them, and no beginning of an epoch."""
    return steps >= _FEW_STEPS and 2 * made >= steps


def words(user_stage: str | None) -> list[str]:
    """The transformations of `fused(MapDataset:2,BatchDatasetV2:3)` as one writes them: map, batch."""
    return [
        _WORDS.get(kind, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower().removeprefix("parallel_"))
        for kind, _, _ in _PLACED.findall(user_stage or "")
    ]


def written_as(user_stage: str, position: int | None) -> str:
    """The user's transformation of a stage, for a sentence. position: as in Stage. What a function makes has
    a number beyond all of the chain, which says nothing: there it is the place of that function's."""
    if position is None or position in {number for _, number in placed(user_stage)}:
        return user_stage
    return f"{' with '.join(words(user_stage))} inside transformation {position}"


@lru_cache(maxsize=4096)
def _unindexed(name: str) -> str:
    return _RUN_INDEX.sub("", name)


def build(calls: Sequence[StageCall]) -> tuple[list[PipelineStage], dict[str, PipelineStage]]:
    """The stages of a source, consumers first, and the stage of each iterator id.

    Ids that collide, parents that form a circle and parents that were never recorded end in stages without
    a consumer, never in a loop."""
    names, parents = _named(calls)
    pipelines = _pipelines(calls, names, parents)
    stages = _stages_of(calls, pipelines)
    of = {i: stages[pipelines[i], names[i]] for i in names if (pipelines[i], names[i]) in stages}
    _link(of, parents)
    _find_ahead(stages.values(), of)
    taken = {stage.pipeline for stage in stages.values() if any(map(is_taken, stage.calls))}
    for stage in stages.values():
        stage.taken = stage.pipeline in taken
    ordered = _ordered(stages.values())
    for number, stage in enumerate(ordered):
        stage.number = number
    if all(call.is_unnumbered for call in calls if call.kind == "next"):
        tf1_calls.name(ordered)
    _feed(ordered)
    _count_from_source(ordered)
    for stage in ordered:
        _place(stage)
        stage.lane = _lane(stage)
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
            stage.args.update(call.args)
        stage.calls.append(call)
    return stages


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
    """The root that each iterator belongs to; of a circle, one of its members."""
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
        for one in way:
            roots[one] = root
    return roots


def _pipelines(
    calls: Sequence[StageCall], names: dict[str, str], parents: dict[str, str | None]
) -> dict[str, int]:
    """The number of each iterator's pipeline: roots with the same stages are replicas or epochs of one."""
    roots = _roots(parents)
    shape: defaultdict[str, set[str]] = defaultdict(set)
    for iterator, root in roots.items():
        shape[root].add(names[iterator])
    taken: Counter[str] = Counter()
    for call in calls:
        if call.kind == "next" and call.stage is not None and is_taken(call):
            taken[roots[call.stage]] += call.end_ps - call.ts_ps + 1
    # Those that the program takes from come first, the one it waits for longest before the others.
    order = sorted(shape, key=lambda root: (-taken[root], -len(shape[root]), root))
    number: dict[str, int] = {}
    heads: list[str] = []
    for root in order:
        # Of one whose consumer was never recorded, the pipeline is known by its names alone.
        orphan = parents.get(root) is not None and parents[root] not in parents
        for i, head in enumerate(heads):
            if shape[root] <= shape[head] and (orphan or bool(taken[root]) == bool(taken[head])):
                number[root] = i
                break
        else:
            number[root] = len(heads)
            heads.append(root)
    return {iterator: number[root] for iterator, root in roots.items()}


def is_taken(call: StageCall) -> bool:
    """Whether the program itself makes this call of a root: it fetches a batch, and waits for it."""
    if call.kind != "next" or "::" in call.name.removeprefix("Iterator::"):
        return False
    if call.above is not None:
        return call.above.kind == "fetch"
    return not call.track.startswith("tf_data_")


def _link(of: dict[str, PipelineStage], parents: dict[str, str | None]) -> None:
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
            if id(at) in inside:  # parents in a circle: it is opened where it closes
                way[-1].above = None
                break
            inside.add(id(at))
            way.append(at)
            at = at.above
        sound |= inside


def _feed(stages: Collection[PipelineStage]) -> None:
    """Links the pipelines of devices with the host's: a Generator of theirs takes what a MultiDeviceIterator
    drew from the host's root on a thread of its own."""
    roots = [
        stage
        for stage in stages
        if stage.above is None
        and not stage.taken
        and any(call.track.startswith("tf_data_multi_device_iterator") for call in stage.calls)
    ]
    generators = [stage for stage in stages if stage.taken and stage.short == "Generator"]
    if len(roots) == 1:
        for generator in generators:
            generator.fed_by = roots[0]
            generator.user_stage = None


def _ordered(stages: Collection[PipelineStage]) -> list[PipelineStage]:
    """By pipeline, consumers before what they consume."""
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


_SOURCES = frozenset(
    {
        "Range", "Tensor", "TensorSlice", "SparseTensorSlice", "Generator", "MatchingFiles", "Random",
        "TFRecord", "TextLine", "FixedLengthRecord", "DataService",
    }
)  # fmt: skip


def _count_from_source(stages: Sequence[PipelineStage]) -> None:
    """Numbers each pipeline's transformations from its own source on. TensorFlow counts the datasets of a
    process, so those of a second chain go on where the first one ends."""
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
    """Finds the place of a stage in the user's chain; its consumer's place is known.

    Transformations are numbered from the source on, those inside of functions after all others, so what a
    flat_map or interleave takes from is made by its function when it has the higher number.
    """
    above, position = stage.above, _number(stage.user_stage)
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
        # A rewrite numbered it anew: what feeds the first transformation is the source all the same.
        stage.position = 0


def _lane(stage: PipelineStage) -> str:
    return f"function:{stage.number}" if stage.ahead else consumer_lane(stage)


def consumer_lane(stage: PipelineStage) -> str:
    """The lane that takes its elements. Lanes of its consumers are known."""
    above = stage.above
    if above is None:
        return PROGRAM if stage.taken else f"pipeline:{stage.pipeline}"
    return f"{THREAD}{above.number}" if above.ahead else above.lane


def _find_ahead(stages: Collection[PipelineStage], of: dict[str, PipelineStage]) -> None:
    """A stage works ahead when its input is called outside of its own calls, or when its kind always does."""
    inside: Counter[tuple[PipelineStage, bool]] = Counter()
    for stage in stages:
        for call in stage.calls:
            consumer = of.get(call.consumer or "")
            if consumer is None:
                continue
            if call.is_unnumbered:
                # The call around it may have begun before the recording, so only kinds tell.
                continue
            above = call.above
            while above is not None and above.kind != "next":
                above = above.above
            inside[consumer, above is not None and above.iterator == call.consumer] += 1
    for stage in stages:
        outside = inside[stage, False] > inside[stage, True]
        # With room for no element, a prefetch asks its input when it is asked itself.
        nothing = stage.short.startswith("Prefetch") and stage.number_of("buffer_limit") == 0
        stage.ahead = outside or (bool(_WORKS_AHEAD.match(stage.short)) and not nothing)

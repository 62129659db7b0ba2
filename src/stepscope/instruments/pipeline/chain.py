"""The user's chain of transformations, compared with the stages that TensorFlow ran.

The comparison shows whether the chain ends in a prefetch, what TensorFlow removed, and what list_files added.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.stages import PipelineStage

READERS = ("TFRecord", "TextLine", "FixedLengthRecord", "SSTable", "RecordIO", "ArrayRecord")
"""Sources that read files."""
_SEVERAL_INPUTS = ("Zip", "Concatenate", "DirectedInterleave", "ParallelZip", "Random", "Choose")
_MAKERS = ("FlatMap", "Interleave", "ParallelInterleave", "LegacyParallelInterleave")


class Ending(NamedTuple):
    """How a pipeline ends, as seen by the program."""

    prefetch: Literal["user", "tensorflow", "none"]
    """Who added the prefetch at the end."""
    last: PipelineStage | None
    """The last stage, without Root and the like; None where no stages are known."""
    earlier: PipelineStage | None = None
    """The user's prefetch that further stages follow."""


def ending(stages: Sequence[PipelineStage]) -> Ending:
    """The end of the pipeline that the program takes its batches from. In a pipeline for several devices, the
    end on the host counts: TensorFlow adds a prefetch for each device."""
    below = _inputs_by_consumer(stages)
    hosts = [stage.fed_by for stage in stages if stage.fed_by is not None]
    handing = next((at for stage in stages if stage.fed_by is not None for at in _prefetching(stage)), None)
    taken = [stage for stage in stages if stage.taken and stage.above is None]
    at = _last_written(next(iter(hosts or taken), None), below)
    if at is not None and _prefetches(at):
        return Ending("tensorflow" if at.user_stage is None else "user", at)
    behind = [] if at is None else _behind(at, below)
    if handing is not None and handing.user_stage is not None:
        return Ending("user", handing)
    ended: Literal["tensorflow", "none"] = "none" if handing is None else "tensorflow"
    return Ending(ended, at, _user_prefetch(behind, below))


def _prefetching(stage: PipelineStage) -> Iterator[PipelineStage]:
    """The stages between this one and the program that prefetch."""
    at: PipelineStage | None = stage
    while at is not None:
        if _prefetches(at):
            yield at
        at = at.above


def _last_written(
    stage: PipelineStage | None, below: Mapping[int, Sequence[PipelineStage]]
) -> PipelineStage | None:
    """The first stage, from this one towards the source, that the user wrote or that is a prefetch."""
    while stage is not None and stage.user_stage is None and not _prefetches(stage):
        stage = next(iter(below[stage.number]), None)
    return stage


def _inputs_by_consumer(stages: Sequence[PipelineStage]) -> Mapping[int, list[PipelineStage]]:
    """The inputs of each stage, by its number."""
    below: defaultdict[int, list[PipelineStage]] = defaultdict(list)
    for stage in stages:
        if stage.above is not None:
            below[stage.above.number].append(stage)
    return below


def _user_prefetch(
    behind: Sequence[PipelineStage], below: Mapping[int, Sequence[PipelineStage]]
) -> PipelineStage | None:
    """The user's prefetch before the stages at the end."""
    before = (stage for last in behind for stage in below[last.number])
    return next((stage for stage in before if _prefetches(stage) and stage.user_stage is not None), None)


def _prefetches(stage: PipelineStage) -> bool:
    return stage.short.startswith("Prefetch") and stage.ahead


def _behind(last: PipelineStage, below: Mapping[int, Sequence[PipelineStage]]) -> list[PipelineStage]:
    found, todo = [], [last]
    while todo:
        stage = todo.pop()
        if not stage.ahead:
            found.append(stage)
            todo += below[stage.number]
    return found


class Removed(NamedTuple):
    """A transformation that TensorFlow removed from the chain."""

    position: int
    written: UserStage | None
    """Where the user wrote it, if a capture tells."""


def removed(stages: Sequence[PipelineStage], places: Sequence[UserStage] = ()) -> list[Removed]:
    """Transformations between two adjacent stages that no stage runs. Nothing is known after the last stage,
    and before one with several inputs."""
    inputs = Counter(stage.above.number for stage in stages if stage.above is not None)
    known: defaultdict[int, set[UserStage]] = defaultdict(set)
    for place in places:
        known[place.position].add(replace(place, iterator=0))
    found = []
    for stage in stages:
        above = stage.above
        if above is None or (inputs[above.number] > 1 and not above.short.startswith(_MAKERS)):
            continue
        for position in _positions_between(stage, above):
            alike = list(known[position])
            written = alike[0] if len(alike) == 1 else None
            if not _made_with(above, position, written, known):
                found.append(Removed(position, written))
    return sorted(found, key=lambda stage: stage.position)


def _positions_between(stage: PipelineStage, above: PipelineStage) -> range:
    """The positions in the user's chain between a stage and its consumer, where both are known."""
    if stage.nested_in is not None or above.nested_in is not None:
        return range(0)
    if stage.position is None or above.position is None or above.short.startswith(_SEVERAL_INPUTS):
        return range(0)
    return range(max(stage.positions, default=stage.position or 0) + 1, above.position)


def _made_with(
    stage: PipelineStage, position: int, written: UserStage | None, known: Mapping[int, Collection[UserStage]]
) -> bool:
    """Whether a dataset belongs to the call that made the next one: unbatch() maps first."""
    if written is None:
        return stage.short == "Unbatch" and position + 1 == stage.position
    call = (written.file, written.line, written.transformation)
    behind = known.get(position + 1, ())
    return any((user_stage.file, user_stage.line, user_stage.transformation) == call for user_stage in behind)


def find_listing(stages: Sequence[PipelineStage], where: Mapping[PipelineStage, Sequence[UserStage]]) -> None:
    """Marks the stages that list_files wrote: from_tensor_slices of the names, and a shuffle of them all.

    A capture with the program's lines says so. Without one, behaviour decides: all elements are shuffled at
    once and then read as files. A program that slices and shuffles its own list of names looks the same, and
    does the same.
    """
    for stage in stages:
        stage.lists_files = any(
            user_stage.transformation == "list_files" for user_stage in where.get(stage, ())
        )
    if any(stage.lists_files for stage in stages):
        return
    for stage in stages:
        shuffle = stage.above
        if stage.short != "TensorSlice" or stage.position != 0 or stage in where or shuffle is None:
            continue
        if shuffle.short == "Shuffle" and _all_at_once(stage, shuffle) and _names_files(shuffle, stages):
            stage.lists_files = shuffle.lists_files = True


def _all_at_once(source: PipelineStage, shuffle: PipelineStage) -> bool:
    """Whether the buffer of a shuffle holds exactly the elements of its source."""
    drawn = Counter(call.iterator for call in source.calls)
    size = shuffle.number_of("buffer_size")
    return size is not None and size <= max(drawn.values(), default=0) <= size + 1


def _names_files(stage: PipelineStage, stages: Sequence[PipelineStage]) -> bool:
    """Whether the consumer of a stage opens a reader for each element."""
    above = stage.above
    while above is not None and not above.short.startswith(_MAKERS):
        above = above.above
    return above is not None and any(
        pipeline_stage.short in READERS
        and pipeline_stage.nested_in is above
        and pipeline_stage.position == above.position
        for pipeline_stage in stages
    )

"""Calls of iterators without ids, as TensorFlow 1 records them.

The name of an iterator is its path from the root: `Iterator::Model::Prefetch::FlatMap[39]::TFRecord` is
consumed by `Iterator::Model::Prefetch::FlatMap`, and the index identifies the instance. So names nest the
calls: threads are not always recorded, a Timeline packs its slices into lanes, and in whole microseconds
several short calls begin at once.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.instruments.pipeline.calls import StageCall
    from stepscope.instruments.pipeline.stages import PipelineStage

_INSTANCE = re.compile(r"\[\d+\]$")
_SLACK_PS = 10**6
"""Start and duration are each cut to whole microseconds, so a call may seem to end one after the call around
it."""
_begin = attrgetter("ts_ps")
FEEDS_DEVICES = "tf_data_multi_device_iterator"
"""Threads whose names begin so take batches for the devices of a strategy, ahead of the program."""
_MADE_BY = re.compile(r"((?<!Zip)(?<!DirectedInterleave)(?<!Concatenate)\[\d+\]|::Reduce)::[^:]+$")
"""A name whose iterator the function of its consumer made, as in flat_map, interleave and group_by_window."""
_VERSION = re.compile(r"(V\d+)?$")
_COUNTS = re.compile(r"^(Forever|Finite|Empty)(Repeat|Skip|Take)$")
"""What repeat, skip and take run as, by their number."""
_CACHES = re.compile(r"^(Memory|File)(Cache|Reader|Writer)(Impl)?$")
"""What a cache runs as: while it fills, and when it is read."""
_IMPL = "Impl"
_INSIDE_CACHE = re.compile(rf"::(Memory|File)Cache{_IMPL}$")
"""The iterator inside a cache. Its name is that of the cache with Impl, not one below it."""
_MADE_FROM = re.compile(r"(FlatMap|(Legacy)?(Parallel)?Interleave)(V\d+)?$")
"""Stages whose input may be too short to be recorded: it made what their functions make."""
OF_OPTIONS = ("MaxIntraOpParallelism", "PrivateThreadPool")
"""Stages that stand for options of the user's."""
_ADDED = frozenset({"Model", "Root", "Optimize", *OF_OPTIONS})
"""Stages that TensorFlow adds around the user's."""


@lru_cache(maxsize=4096)
def consumer(name: str) -> str | None:
    """The name of the consumer of an iterator; None at the root."""
    if _INSIDE_CACHE.search(name):
        return name.removesuffix(_IMPL)
    above, _, _ = name.rpartition("::")
    return None if above == "Iterator" or not above else _INSTANCE.sub("", above.removesuffix("::Reduce"))


def way(name: str) -> Iterator[str]:
    """The name of an iterator without its index, and those of all that consume it."""
    at: str | None = _INSTANCE.sub("", name)
    while at is not None:
        yield at
        at = consumer(at)


def labelled(args: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """What the label of a call says of its stage, as parallelism=2."""
    for part in str(args.get("label", "")).split(","):
        key, equals, value = part.partition("=")
        if equals:
            yield key, value


def is_unnumbered(iterator: str) -> bool:
    """Whether this is the name of an iterator and not its id."""
    return iterator.startswith("Iterator::")


def nest(calls: Iterable[StageCall]) -> None:
    """Sets the call around each call: one of its consumer, or at the root the op that takes the batch. A call
    of a stage that works ahead has none."""
    around: defaultdict[str | None, list[StageCall]] = defaultdict(list)
    ordered = sorted(calls, key=lambda call: (call.ts_ps, -call.end_ps, len(call.name)))
    for call in ordered:
        if call.kind == "next":
            around[call.iterator].append(call)
        elif call.kind == "fetch":
            around[None].append(call)
    for call in ordered:
        if call.kind != "next" or (call.consumer is None and call.track.startswith(FEEDS_DEVICES)):
            continue
        above = enclosing(call.ts_ps, call.end_ps, around.get(call.consumer, ()))
        if above is not None:
            call.end_ps = max(min(call.end_ps, above.end_ps), call.ts_ps)
            call.above = above
            above.inside.append((call.ts_ps, call.end_ps))


def enclosing(ts_ps: int, end_ps: int, others: Sequence[StageCall]) -> StageCall | None:
    """The call that contains an interval; calls are in order of time."""
    at = bisect_right(others, ts_ps, key=_begin) - 1
    if at < 0:
        return None
    # Of those that begin in the same microsecond, the longest, which comes first, contains it.
    at = bisect_left(others, others[at].ts_ps, 0, at, key=_begin)
    if others[at].end_ps + _SLACK_PS < end_ps:
        return None
    return others[at]


def name(stages: Sequence[PipelineStage], iterators: Iterable[tuple[str, PipelineStage]]) -> None:
    """Names the user's transformations after the stages that ran, with positions from the source on; those
    inside functions come after all others, as in newer recordings. stages: consumers first. iterators: names
    of iterators, each with its stage."""
    made = {stage for iterator, stage in iterators if _MADE_BY.search(iterator)}
    nested: set[PipelineStage] = set()
    for stage in stages:
        if stage.above is not None and (stage.above in nested or stage in made):
            nested.add(stage)
    height: dict[PipelineStage, int] = {}
    for stage in reversed(stages):
        least = 1 if _MADE_FROM.match(stage.short) else 0
        level = height[stage] = max(height.get(stage, 0), least)
        if stage.above is not None and (stage in nested) == (stage.above in nested):
            inside = _INSIDE_CACHE.search(stage.name)
            height[stage.above] = max(height.get(stage.above, 0), level + (0 if inside else 1))
    behind = max(height.values(), default=0) + 1
    for stage in stages:
        if stage.short not in _ADDED and not _INSIDE_CACHE.search(stage.name):
            kind = _VERSION.sub("", stage.short)
            version = stage.short[len(kind) :]
            place = height[stage] + (behind if stage in nested else 0)
            kind = _CACHES.sub("Cache", _COUNTS.sub(r"\2", kind))
            stage.user_stage = f"{kind}Dataset{version}:{place}"

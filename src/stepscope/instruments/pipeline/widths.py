"""On how many threads a stage works."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from stepscope.instruments.intervals import Interval, union
from stepscope.instruments.pipeline.calls import EXECUTE, StageCall
from stepscope.instruments.pipeline.cores import pool_of, tells_cores
from stepscope.instruments.pipeline.stages import PipelineStage


def widths(
    stages: Sequence[PipelineStage], ran: Mapping[PipelineStage, Sequence[Interval]], cores: int
) -> dict[PipelineStage, int]:
    """The threads that share the work of each stage. ran: when its function ran."""
    tells_threads = tells_cores(stages) or pool_of(stages) is not None
    side_by_side: dict[PipelineStage, int] = {}
    found: dict[PipelineStage, int] = {}
    for stage in stages:
        side_by_side[stage] = _outer(stage, cores, None if tells_threads else stages, side_by_side)
        width = _width(stage, cores) if tells_threads else _width_by_threads(stage, ran[stage])
        found[stage] = width * side_by_side[stage]
    return found


def full_intervals(pieces: Sequence[Interval], threads: int) -> list[Interval]:
    """When at least this many pieces ran at once: the pool had no free thread."""
    turns = sorted([(begin, 1) for begin, _ in pieces] + [(end, -1) for _, end in pieces])
    found: list[Interval] = []
    running = since = 0
    for at, turn in turns:
        if running < threads <= running + turn:
            since = at
        elif running >= threads > running + turn:
            found.append((since, at))
        running += turn
    return union(found)


def _width(stage: PipelineStage, cores: int) -> int:
    """Threads of its own function: one per core, until autotune has decided."""
    if not stage.ahead or stage.short.startswith("Prefetch"):
        return 1
    width = stage.parallelism
    # py_functions wait as well as work, but the pool has no more threads than that.
    return min(width, cores) if width is not None else cores


def _width_by_threads(stage: PipelineStage, ran: Sequence[Interval]) -> int:
    """The same where nothing tells how many threads there are: as many as ran at once."""
    if not stage.ahead or stage.short.startswith("Prefetch"):
        return 1
    at_once = max(_concurrency(ran), 1)
    return min(stage.parallelism or at_once, at_once)


def _outer(
    stage: PipelineStage, cores: int, untold: Sequence[PipelineStage] | None, outer: dict[PipelineStage, int]
) -> int:
    """Threads that run it in parallel, because a parallel interleave further down has several inputs. untold:
    all stages, where nothing tells how many threads there are; then those that ran at once count."""
    above = stage.above
    if above is None:
        return 1
    count = outer[above]
    if above.short.startswith(("ParallelInterleave", "LegacyParallelInterleave")):
        if untold is None:
            count = max(count, min(above.parallelism or cores, cores))
        else:
            inner = [other for other in untold if other.nested_in is above or other is stage]
            spans = ([(call.ts_ps, call.end_ps) for call in other.calls] for other in inner)
            count = max(map(_concurrency, spans))
    return count


def executors_at_once(calls: Iterable[StageCall]) -> int:
    """On how many threads functions ran at once, at most."""
    return _concurrency([(call.ts_ps, call.end_ps) for call in calls if call.name == EXECUTE])


def _concurrency(intervals: Sequence[Interval]) -> int:
    """How many of them ran at once at most."""
    turns = sorted([(begin, 1) for begin, _ in intervals] + [(end, -1) for _, end in intervals])
    return max(accumulate(turn for _, turn in turns), default=1)

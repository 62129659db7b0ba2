"""Samples of the driving thread's stack, in the time of another source of the same host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from stepscope.engines import Statement
from stepscope.instruments.step_parts import labels
from stepscope.instruments.step_parts.driver import joined
from stepscope.instruments.step_parts.labels import Label, Meaning
from stepscope.instruments.step_parts.sweep import Interval, Segment
from stepscope.library.statements import Query, statement


class Sample(NamedTuple):
    """A look at the driving thread: the time around it, its moment, and what its stack stands for."""

    from_ps: int
    to_ps: int
    seen_ps: int
    stack_id: int
    shares: tuple[tuple[Label | None, float], ...]
    """Labels, each with its part of the time."""
    active_ps: int | None = None
    """For how long the thread ran meanwhile, or could have run had it had a core, where that is known."""
    queued_ps: int = 0
    """For how much of that it had no core."""


class Look(NamedTuple):
    """Time that a sample stands for, under one label."""

    from_ps: int
    to_ps: int
    stack_id: int
    label: Label | None


def of_host(query: Query, source_id: int, run_id: str, host_id: str, window: Interval) -> list[Sample]:
    """The samples of a host's driving thread within a window, in the time of the source and in order; none
    overlaps the next. Nothing where clocks cannot be compared."""
    found: list[Sample] = []
    for other, shift in shifts(query, source_id, run_id, host_id):
        begin, end = window[0] - shift, window[1] - shift
        samples = query(_asked(other, 1, (begin, end))).rows()
        if not samples:
            continue
        meanings = _meanings(query, other)
        for ts_ps, weight_ps, seen_ps, active_ps, stack_id, queued_ps in samples:
            ran = None if active_ps is None else active_ps / weight_ps
            shares = labels.shares(meanings.get(stack_id, labels.NOTHING).label, ran)
            begin = ts_ps + shift
            end = begin + weight_ps
            found.append(Sample(begin, end, seen_ps + shift, stack_id, shares, active_ps, queued_ps))
    return disjoint(found)


def loading(query: Query, source_id: int, run_id: str, host_id: str, window: Interval) -> list[Interval]:
    """When other threads of a host ran the program's own Python for a loader, as samples of them tell."""
    found: list[Interval] = []
    for other, shift in shifts(query, source_id, run_id, host_id):
        samples = query(_asked(other, 0, (window[0] - shift, window[1] - shift))).rows()
        working = of_loaders(query, other) if samples else frozenset()
        for ts_ps, weight_ps, _, active_ps, stack_id, _ in samples:
            if stack_id in working and (active_ps is None or active_ps >= labels.PREEMPTED * weight_ps):
                found.append((ts_ps + shift, ts_ps + shift + weight_ps))
    return merged(found)


def _asked(source_id: int, main: int, window: Interval) -> Statement:
    return statement(
        "samples_of_threads", source_id=source_id, main=main, begin_ps=window[0], end_ps=window[1]
    )


def of_loaders(query: Query, source_id: int, calling: bool = False) -> frozenset[int]:
    """The stacks of a source on which the program's own Python runs for a loader: that of a framework, or,
    where a thread gets from a queue, any thread of the program, which may fill it. calling: also those on
    which what a framework's loader runs calls a framework, as to convert a tensor."""
    meanings: dict[int, Meaning] = {}
    loaders: set[int] = set()
    queued = False
    for stack_id, parent_id, file, _, function, code, _ in query(
        statement("frames_of_stacks", source_id=source_id)
    ).rows():
        own = labels.of_frame(file or "", function, code)
        if own.label == "input":
            # For the thread that waits, all of it is input; on the loader's own, what is inside decides.
            own = labels.Meaning("dispatch")
        meanings[stack_id] = labels.within(meanings.get(parent_id, labels.NOTHING), own)
        if parent_id in loaders or labels.loads(file or "", code):
            loaders.add(stack_id)
        queued = queued or labels.takes(file or "", function)
    found = frozenset(one for one in (meanings if queued else loaders) if meanings[one].label == "python")
    if not calling:
        return found
    return found | {one for one in loaders if meanings[one].label in ("dispatch", "copy")}


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The union of intervals: disjoint and in order."""
    found: list[Interval] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def disjoint(samples: Sequence[Sample]) -> list[Sample]:
    """Samples in order, each up to the next at most."""
    ordered = sorted(samples)
    kept = []
    for number, one in enumerate(ordered):
        end = one.to_ps if number + 1 == len(ordered) else min(one.to_ps, ordered[number + 1].from_ps)
        if end > one.from_ps:
            kept.append(one._replace(to_ps=end, seen_ps=min(max(one.seen_ps, one.from_ps), end - 1)))
    return kept


def looks(sample: Sample, begin: int, end: int) -> Iterator[Look]:
    """A stretch of time that a sample stands for, by label."""
    at = begin
    for number, (label, share) in enumerate(sample.shares):
        last = number + 1 == len(sample.shares)
        until = end if last else min(at + round(share * (end - begin)), end)
        if until > at:
            yield Look(at, until, sample.stack_id, label)
        at = until


def segments(looks: Sequence[Look]) -> list[Segment]:
    """What samples say of the driving thread; where they say nothing there is no stretch."""
    return joined(Segment(one.from_ps, one.to_ps, one.label) for one in looks if one.label is not None)


def shifts(query: Query, source_id: int, run_id: str, host_id: str) -> list[tuple[int, int]]:
    """The sources of a host that have samples, and what to add to their times for those of a source."""
    rows = query(statement("sampled_captures", source_id=source_id)).rows()
    origins = {row[0]: row[3] for row in rows}
    own = origins.get(source_id)
    found = []
    for other, run, host, origin in rows:
        if other == source_id:
            found.append((other, 0))
        elif (run, host) == (run_id, host_id) and own is not None and origin is not None:
            found.append((other, (origin - own) * 1000))
    return found


def _meanings(query: Query, source_id: int) -> dict[int, Meaning]:
    """What the stacks of a source stand for. A stack has a greater id than the one it continues."""
    found: dict[int, Meaning] = {}
    for stack_id, parent_id, file, _, function, code, _ in query(
        statement("frames_of_stacks", source_id=source_id)
    ).rows():
        around = labels.NOTHING if parent_id is None else found.get(parent_id, labels.NOTHING)
        found[stack_id] = labels.within(around, labels.of_frame(file or "", function, code))
    return found

"""Samples of the driving thread's stack, in the time of another source of the same host."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from stepscope.instruments.intervals import Interval, union
from stepscope.instruments.step_breakdown import labels
from stepscope.instruments.step_breakdown.driver import joined
from stepscope.instruments.step_breakdown.labels import Label, Meaning
from stepscope.instruments.step_breakdown.sweep import Segment
from stepscope.library.statements import Query, statement


class DriverSample(NamedTuple):
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


class SampleSpan(NamedTuple):
    """Time that a sample stands for, under one label."""

    from_ps: int
    to_ps: int
    stack_id: int
    label: Label | None


_Row = tuple[int, int, int, int | None, int, int]
"""A row of samples_of_threads without its source: ts_ps, weight_ps, moment_ps, active_ps, stack_id and
no_core_ps."""
Shifts = Mapping[int, Sequence[tuple[int, int]]]
"""By source: those with samples of its host's threads, and what to add to their times for its own. Only
sources whose clocks can be compared."""


def free_threaded(query: Query) -> frozenset[int]:
    """Sources of programs whose threads ran Python at the same time: none waits for the others."""
    return frozenset(source_id for (source_id,) in query(statement("free_threaded_sources")).rows())


def driver_samples(
    query: Query, shifts: Shifts, windows: Mapping[int, Interval]
) -> dict[int, list[DriverSample]]:
    """The samples of the driving thread of each source's host within a window, in the time of the source and
    in order; none overlaps the next. Sources without any are left out."""
    samples = _samples(query, shifts, windows, 1)
    meanings = _meanings(query, list(samples)) if samples else {}
    found: dict[int, list[DriverSample]] = {}
    for source_id, (first, last) in windows.items():
        thread_samples: list[DriverSample] = []
        for other, shift in shifts.get(source_id, ()):
            for ts_ps, weight_ps, seen_ps, active_ps, stack_id, queued_ps in samples.get(other, ()):
                begin, end = ts_ps + shift, ts_ps + shift + weight_ps
                if begin < last and end > first:
                    ran = labels.part_run(weight_ps, active_ps, queued_ps)
                    shares = labels.shares(meanings.get(stack_id, labels.NOTHING).label, ran)
                    thread_samples.append(
                        DriverSample(begin, end, seen_ps + shift, stack_id, shares, active_ps, queued_ps)
                    )
        if thread_samples:
            found[source_id] = disjoint(thread_samples)
    return found


def loader_intervals(
    query: Query, shifts: Shifts, windows: Mapping[int, Interval]
) -> dict[int, list[Interval]]:
    """When other threads of each source's host ran the program's own Python for a loader, as samples of them
    tell."""
    samples = _samples(query, shifts, windows, 0)
    working = {other: loader_stacks(query, other) for other in samples}
    found: dict[int, list[Interval]] = {}
    for source_id, (first, last) in windows.items():
        intervals: list[Interval] = []
        for other, shift in shifts.get(source_id, ()):
            for ts_ps, weight_ps, _, active_ps, stack_id, queued_ps in samples.get(other, ()):
                ran = labels.part_run(weight_ps, active_ps, queued_ps)
                begin, end = ts_ps + shift, ts_ps + shift + weight_ps
                works = stack_id in working[other] and (ran is None or ran >= labels.PREEMPTED)
                if works and begin < last and end > first:
                    intervals.append((begin, end))
        found[source_id] = union(intervals)
    return found


def _samples(
    query: Query, shifts: Shifts, windows: Mapping[int, Interval], main: int
) -> dict[int, list[_Row]]:
    """Samples by the source that has them."""
    near = [
        (other, windows[source_id][0] - shift, windows[source_id][1] - shift)
        for source_id in windows
        for other, shift in shifts.get(source_id, ())
    ]
    if not near:
        return {}
    asked = statement(
        "samples_of_threads",
        sources=sorted({other for other, _, _ in near}),
        main=main,
        begin_ps=min(begin for _, begin, _ in near),
        end_ps=max(end for _, _, end in near),
    )
    found: dict[int, list[_Row]] = {}
    for other, ts_ps, weight_ps, moment_ps, active_ps, stack_id, no_core_ps in query(asked).rows():
        source_rows = found.setdefault(other, [])
        source_rows.append((ts_ps, weight_ps, moment_ps, active_ps, stack_id, no_core_ps))
    return found


def loader_stacks(query: Query, source_id: int, calling: bool = False) -> frozenset[int]:
    """The stacks of a source on which the program's own Python runs for a loader: that of a framework, or,
    where a thread gets from a queue, any thread of the program, which may fill it. calling: also those on
    which what a framework's loader runs calls a framework, as to convert a tensor, or waits for something."""
    meanings: dict[int, Meaning] = {}
    loaders: set[int] = set()
    called: set[int] = set()
    """Of loaders, those that have called the program."""
    queued = False
    for _, stack_id, parent_id, file, _, function, code, _ in query(
        statement("frames_of_stacks", sources=[source_id])
    ).rows():
        meaning = _meaning_to_loader(file or "", function, code)
        meanings[stack_id] = labels.nested_meaning(meanings.get(parent_id, labels.NOTHING), meaning)
        if parent_id in loaders or labels.loads(file or "", code):
            loaders.add(stack_id)
            if parent_id in called or code == "program":
                called.add(stack_id)
        queued = queued or labels.takes(file or "", function)
    found = _labelled(meanings if queued else loaders, meanings, "python")
    # A loader that waits for work does so outside of the program's functions.
    return found | _labelled(called, meanings, "dispatch", "copy", "wait") if calling else found


def _labelled(stacks: Iterable[int], meanings: Mapping[int, Meaning], *names: str) -> frozenset[int]:
    return frozenset(stack for stack in stacks if meanings[stack].label in names)


def _meaning_to_loader(file: str, function: str, code: str) -> Meaning:
    """What a frame means on a loader's thread: there, what is input to the thread that waits depends on what
    is inside."""
    meaning = labels.frame_meaning(file, function, code)
    return labels.Meaning("dispatch") if meaning.label == "input" else meaning


def disjoint(samples: Sequence[DriverSample]) -> list[DriverSample]:
    """Samples in order, each up to the next at most."""
    ordered = sorted(samples)
    kept = []
    for number, sample in enumerate(ordered):
        end = sample.to_ps if number + 1 == len(ordered) else min(sample.to_ps, ordered[number + 1].from_ps)
        if end > sample.from_ps:
            kept.append(sample._replace(to_ps=end, seen_ps=min(max(sample.seen_ps, sample.from_ps), end - 1)))
    return kept


def spans_of(sample: DriverSample, begin: int, end: int) -> Iterator[SampleSpan]:
    """A stretch of time that a sample stands for, by label."""
    at = begin
    for number, (label, share) in enumerate(sample.shares):
        last = number + 1 == len(sample.shares)
        until = end if last else min(at + round(share * (end - begin)), end)
        if until > at:
            yield SampleSpan(at, until, sample.stack_id, label)
        at = until


def segments(looks: Sequence[SampleSpan]) -> list[Segment]:
    """What samples say of the driving thread; where they say nothing there is no stretch."""
    return joined(Segment(look.from_ps, look.to_ps, look.label) for look in looks if look.label is not None)


def shifts(query: Query, sources: Sequence[int]) -> Shifts:
    """Which sources have samples of the hosts of some sources, and what to add to their times."""
    rows = query(statement("sampled_captures")).rows()
    places = {source_id: (run, host) for source_id, run, host, _, _ in rows}
    origins = {source_id: origin for source_id, _, _, origin, _ in rows}
    sampled: dict[tuple[str, str], list[int]] = {}
    for source_id in sorted({source_id for source_id, *_, has_samples in rows if has_samples}):
        sampled.setdefault(places[source_id], []).append(source_id)
    found: dict[int, list[tuple[int, int]]] = {}
    for source_id in sources if sampled else ():
        origin_of_source = origins.get(source_id)
        for other in sampled.get(places.get(source_id, ("", "")), ()):
            origin = origins[other]
            if other == source_id:
                found.setdefault(source_id, []).append((other, 0))
            elif origin_of_source is not None and origin is not None:
                found.setdefault(source_id, []).append((other, (origin - origin_of_source) * 1000))
    return found


def _meanings(query: Query, sources: Sequence[int]) -> dict[int, Meaning]:
    """What the stacks of sources stand for. A stack has a greater id than the one it continues."""
    found: dict[int, Meaning] = {}
    for _, stack_id, parent_id, file, _, function, code, _ in query(
        statement("frames_of_stacks", sources=sources)
    ).rows():
        around = labels.NOTHING if parent_id is None else found.get(parent_id, labels.NOTHING)
        found[stack_id] = labels.nested_meaning(around, labels.frame_meaning(file or "", function, code))
    return found

"""From the tables of a trace to rows of `step_part` and `stack_part`.

A source is read in bits of time: what decides an instant is all at that instant, so bits need not know of
each other, and a recording of any length takes the memory of one bit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from stepscope import config
from stepscope.engines import Statement
from stepscope.instruments.step_parts import driver, held_up, placing, stacks
from stepscope.instruments.step_parts.by_stack import ByStack
from stepscope.instruments.step_parts.held_up import Ran
from stepscope.instruments.step_parts.labels import EXECUTION, LABELS, Label
from stepscope.instruments.step_parts.stacks import Look
from stepscope.instruments.step_parts.sweep import Evidence, Interval, Segment, kept, pieces_of, sweep
from stepscope.lake.numbers import first_id
from stepscope.library.statements import Query, Stream, Value, statement

AT_ONCE = 2_500_000
"""Slices that are looked at together, if their times can be told apart, on a machine with little memory. Each
look reads all slices of the source: a smaller number takes longer, a larger one more memory."""
_SLICE_BYTES = 400
"""What a slice takes while it is looked at, measured."""
_OF_MEMORY = 10
"""A look takes one part in so many of the memory."""
_BITS = 4096


class Step(NamedTuple):
    """A row of the view step."""

    id: int
    ts_ps: int
    end_ps: int


class Source(NamedTuple):
    """A source with steps."""

    source_id: int
    run_id: str
    host_id: str
    steps: list[Step]


class Found(NamedTuple):
    """Rows of both tables."""

    step_part: list[dict[str, Any]]
    stack_part: list[dict[str, Any]]


class Loader(NamedTuple):
    """What is known of Python that other threads run for the input, and of the driving thread meanwhile."""

    python: Sequence[Interval]
    ran: Sequence[Ran]


def rows(query: Query, stream: Stream) -> Found:
    """Rows of the tables step_part and stack_part, source by source."""
    found = Found([], [])
    for source in _sources(query):
        own = _rows_of(query, stream, source)
        for so_far, more in zip(found, own, strict=True):
            so_far += more
    return found


def _sources(query: Query) -> list[Source]:
    found: dict[int, Source] = {}
    for source_id, run_id, host_id, step_id, ts_ps, dur_ps, *_ in query(statement("timed_steps")).rows():
        source = found.setdefault(source_id, Source(source_id, run_id, host_id, []))
        source.steps.append(Step(step_id, ts_ps, ts_ps + dur_ps))
    return list(found.values())


def _rows_of(query: Query, stream: Stream, source: Source) -> Found:
    spans = [(step.ts_ps, step.end_ps) for step in source.steps]
    from stepscope import _core

    totals, by_stack = _core.StepSums(spans, len(LABELS)), ByStack(spans)
    for window, evidence, looks, loader in _evidence(query, stream, source):
        within = [clipped for span in spans if (clipped := _clipped(span, window))]
        pieces = sweep(within, evidence)
        if looks or (loader.python and loader.ran):
            seen = pieces_of(pieces)
            if loader.python and loader.ran:
                seen = list(held_up.handed_over(seen, loader.python, loader.ran))
                pieces = kept(seen)
            by_stack.add(seen, looks)
        totals.add(pieces)
    sums = zip(source.steps, totals.finish(), strict=True)
    parts = [
        {"step_id": step.id, "label": label, "dur_ps": dur_ps, "hidden_ps": hidden_ps}
        for step, own in sums
        for label, dur_ps, hidden_ps in zip(LABELS, own, own[len(LABELS) :], strict=False)
        if dur_ps or hidden_ps
    ]
    stacks = [
        {"step_id": source.steps[number].id, "stack_id": stack_id, "label": label, "dur_ps": dur_ps}
        for (number, stack_id, label), dur_ps in by_stack.sums()
    ]
    return Found(_numbered(source, parts), _numbered(source, stacks))


def _numbered(source: Source, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first = first_id(source.source_id)
    own = {"run_id": source.run_id, "host_id": source.host_id, "source_id": source.source_id}
    return [{"id": first + number, **own, **row} for number, row in enumerate(rows)]


def _clipped(span: Interval, window: Interval) -> Interval | None:
    begin, end = max(span[0], window[0]), min(span[1], window[1])
    return (begin, end) if begin < end else None


def _evidence(
    query: Query, stream: Stream, source: Source
) -> Iterator[tuple[Interval, Evidence, Sequence[Look], Loader]]:
    """What is known of each bit of the source's steps, and the samples in it, bit after bit."""
    from stepscope import _core

    whole = min(step.ts_ps for step in source.steps), max(step.end_ps for step in source.steps)
    kinds = query(statement("evidence_kinds", source_id=source.source_id)).rows()[0]
    on_devices, on_hosts, programs, waits, captures, functions, slices = (number or 0 for number in kinds)
    accelerator = bool(on_devices)
    track = driver.choose(query(statement("driving_threads", source_id=source.source_id)).rows())
    seen = stacks.of_host(query, source.source_id, source.run_id, source.host_id, whole)
    windows = list(_windows(query, source.source_id, whole, slices))
    names = [] if track is None else query(statement("driving_names", track_id=track)).rows()
    calls = driver.kinds(names, computes=not accelerator)
    within: dict[str, Value] = {"source_id": source.source_id, "begin_ps": whole[0], "end_ps": whole[1]}
    compiled = stacks.merged(query(statement("compiled_calls", **within)).rows())
    thread = partial(_doing, query, stream, track or 0, calls, bool(functions), compiled)
    doing = [] if track is None or not seen else _doing_throughout(thread, windows)
    looks = placing.placed(seen, doing)
    samples = stacks.segments(looks)
    ran = [
        held_up.ran(one.from_ps, one.to_ps, one.active_ps, one.queued_ps)
        for one in seen
        if one.active_ps is not None
    ]
    loading = stacks.loading(query, source.source_id, source.run_id, source.host_id, whole) if ran else []
    spans = None
    if on_devices or on_hosts or programs or waits:
        spans = _core.Spans(
            map(stream, _spans_of(source.source_id, whole, accelerator, bool(programs), bool(captures)))
        )
    for window in windows:
        found = {} if spans is None else {layer: spans.within(layer, *window) for layer in spans.layers}
        executing: dict[Label, list[Interval]] = {
            label: found[label] for label in EXECUTION if found.get(label)
        }
        # With what is near on both sides, so that a gap between two calls is seen whole.
        near = window[0] - driver.SHORT_PS, window[1] + driver.SHORT_PS
        does = [] if track is None else thread(near)
        yield (
            window,
            Evidence(
                executing,
                found.get("input work", ()),
                found.get("input waits", ()),
                found.get("peer waits", ()),
                does,
                driver.launching(_near(samples, window), does),
                accelerator,
            ),
            _near(looks, window),
            Loader(stacks.merged([*found.get("input python", ()), *loading]) if ran else (), ran),
        )


_Timed = TypeVar("_Timed", Segment, Look)


def _near(timed: Sequence[_Timed], window: Interval) -> Sequence[_Timed]:
    """Those that reach into a window; all are disjoint and in order."""
    first = bisect_right(timed, window[0], key=lambda one: one.to_ps)
    last = bisect_left(timed, window[1], key=lambda one: one.from_ps)
    return timed[first:last]


def _doing_throughout(
    thread: Callable[[Interval], list[Segment]], windows: Sequence[Interval]
) -> list[Segment]:
    """What a thread does in all windows, which follow each other."""
    found: list[Segment] = []
    for begin, end in windows:
        for one in thread((begin, end)):
            if one.to_ps > begin and one.from_ps < end:
                found.append(one._replace(from_ps=max(one.from_ps, begin), to_ps=min(one.to_ps, end)))
    return driver.joined(found)


def _doing(
    query: Query,
    stream: Stream,
    track: int,
    kinds: driver.Kinds,
    functions: bool,
    compiled: Sequence[Interval],
    window: Interval,
) -> list[Segment]:
    """What a thread does within a window. functions: some of its calls may have traced what they call.
    compiled: calls that a recorder saw compile."""
    begin, end = window
    within: dict[str, Value] = {"track_id": track, "begin_ps": begin, "end_ps": end}
    traced = query(statement("traced_calls", **within)).rows() if functions and kinds else []
    found = driver.segments(stream(statement("driving_slices", **within)), kinds, traced)
    calls = [call for call in compiled if call[0] < end and call[1] > begin]
    return driver.compiling(found, calls) if calls else found


def _spans_of(
    source_id: int, whole: Interval, accelerator: bool, programs: bool, captures: bool
) -> Iterator[Statement]:
    """Statements that find when something executes or waits."""
    within: dict[str, Value] = {"source_id": source_id, "begin_ps": whole[0], "end_ps": whole[1]}
    if accelerator:
        yield statement("step_evidence", place="device", **within)
        return
    name = "captured_evidence" if captures else "step_evidence"
    yield statement(name, place="host", **within)
    if programs:
        yield statement("program_evidence", **within)


def at_once() -> int:
    """Slices that are looked at together: more where there is memory for them."""
    memory_bytes = config.memory_bytes() or config.machine_bytes() or 0
    return max(memory_bytes // (_OF_MEMORY * _SLICE_BYTES), AT_ONCE)


def _windows(query: Query, source_id: int, whole: Interval, slices: int) -> Iterator[Interval]:
    """Bits of the time, in order and without gaps, each with few slices. slices: how many there are."""
    begin, end = whole
    most = at_once()
    if slices <= most:
        yield whole
        return
    width = max((end - begin) // _BITS, 1)
    there, at = 0, begin
    asked = statement("slice_density", source_id=source_id, begin_ps=begin, end_ps=end, width_ps=width)
    for part, many in query(asked).rows():
        cut = begin + part * width
        if there and there + many > most and cut > at:
            yield at, cut
            there, at = 0, cut
        there += many
    yield at, end

"""The thread that drives the steps, and what its slices say it does at each instant."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from stepscope import _core
from stepscope.instruments.intervals import Interval
from stepscope.instruments.step_breakdown import labels
from stepscope.instruments.step_breakdown.labels import LABELS, Label, Meaning
from stepscope.instruments.step_breakdown.sweep import NumberedSegments, Segment
from stepscope.library.statements import Query, statement

NamedSlice = tuple[int, str, str | None, bool, bool]
"""Number of a row of rollup_op, name, category, whether it names an op, whether all of many are long."""
TracedCall = tuple[int, int, int]
"""Begin, end, row of rollup_op."""
NumberedMeaning = tuple[int | None, bool]
"""A label's number, and whether it holds for all within."""
SliceMeanings = dict[int, tuple[NumberedMeaning, NumberedMeaning, bool, bool]]
"""By rollup_id: what a short slice stands for and what a long one does, whether a program is compiled in it,
and whether it calls a jitted function."""

SHORT_PS = 500_000_000
"""Copying between two calls that takes no longer is part of launching them: more would be what a call takes
or gives, moved in bulk."""


LATE_COPY: NamedSlice = (-1, "wait until the copy begins", None, False, False)
"""The part of a call of the runtime in which it waits until the device begins its copy, as in the statement
driving_slices."""
BUILDS: frozenset[Label] = frozenset({"dispatch", "python", "copy", "compile"})
"""What a thread does in a call that compiles, under other names."""
_ALL_BUT_COMPILING: frozenset[Label] = frozenset(LABELS) - {"compile"}
"""What a thread may seem to do while it collects garbage. A program that is traced makes some of it."""


def tracks(query: Query, sources: Sequence[int]) -> dict[int, int]:
    """The tracks of the driving threads, by source; without sources that have no such thread."""
    candidates: dict[int, list[DrivingCandidate]] = {}
    for source_id, *row in query(statement("driving_threads", sources=list(sources))).rows():
        candidates.setdefault(source_id, []).append(DrivingCandidate(*row))
    chosen = {source_id: choose(some) for source_id, some in candidates.items()}
    return {source_id: track for source_id, track in chosen.items() if track is not None}


class DrivingCandidate(NamedTuple):
    """A thread that may drive the steps: its track and name, how many steps begin on it, how many slices it
    has that only such a thread has, and whether these are hardly more than what an engine calls for it."""

    track: int
    name: str
    steps: int
    calls: int
    engine: bool = False


def choose(candidates: Iterable[DrivingCandidate]) -> int | None:
    """The track of the driving thread of a source. None when no thread has any slices that tell."""
    best = max(
        (
            (thread.steps, _is_main(thread.name), not thread.engine, thread.calls, -thread.track)
            for thread in candidates
            if thread.steps or thread.calls
        ),
        default=None,
    )
    return None if best is None else -best[-1]


def _is_main(name: str) -> bool:
    plain = name.lower()
    return plain.startswith(("python", "main")) or "(python)" in plain or plain.endswith("mainthread")


def slice_meanings(rows: Iterable[NamedSlice], computes: bool = False) -> SliceMeanings:
    """What the slices of a thread stand for, by how they are called. computes: ops that are run eagerly
    compute on it."""
    meanings: SliceMeanings = {}
    for rollup_id, name, category, is_op, all_long in (*rows, LATE_COPY):
        short = labels.slice_meaning(name, category, is_op, False)
        long = labels.slice_meaning(name, category, is_op, False, labels.LONG_PS, computes)
        if all_long and long.label == "setup":
            long = short  # a device is used for the first time in few calls
        jitted = name.startswith("PjitFunction(")
        meanings[rollup_id] = (_numbered(short), _numbered(long), labels.builds(name), jitted)
    return meanings


def _numbered(meaning: Meaning) -> NumberedMeaning:
    return None if meaning.label is None else labels.NUMBER[meaning.label], meaning.whole


def segments(
    slices: object, within: Mapping[int, Interval], kinds: SliceMeanings, traced: Sequence[TracedCall] = ()
) -> dict[int, NumberedSegments]:
    """What threads do, each within a stretch of time, by track. slices: a stream of the rows of the statement
    driving_slices; traced: those of traced_calls. Segments are disjoint; where no slice says anything there
    is none. JAX traces a function before it compiles it, in slices that do not say so: a call of a jitted
    function in which something is compiled compiles from its begin."""
    rows = _core.thread_segments(slices, within, kinds, traced, _numbered(labels.COMPILED), labels.LONG_PS)
    return {track: NumberedSegments(track_rows) for track, track_rows in rows.items()}


def joined(found: Iterable[Segment]) -> list[Segment]:
    """The same with neighbours of one label made one."""
    kept: list[Segment] = []
    for segment in found:
        if kept and kept[-1].label == segment.label and kept[-1].to_ps == segment.from_ps:
            kept[-1] = Segment(kept[-1].from_ps, segment.to_ps, segment.label)
        else:
            kept.append(segment)
    return kept


def compiling(found: Sequence[Segment], calls: Sequence[Interval]) -> list[Segment]:
    """What a thread does, in which calls that compiled do so from begin to end: a call whose program is there
    launches it in a fraction of the time. What waits in them goes on waiting. calls: disjoint and in
    order."""
    return _overlaid(found, calls, "compile", BUILDS)


def collecting(found: Sequence[Segment], collections: Sequence[Interval]) -> list[Segment]:
    """What a thread does, which runs Python while it collects garbage, in whatever call of a framework that
    begins. collections: disjoint and in order."""
    return _overlaid(found, collections, "python", _ALL_BUT_COMPILING)


def _overlaid(
    found: Sequence[Segment], intervals: Sequence[Interval], over: Label, instead_of: Container[Label]
) -> list[Segment]:
    """Segments with a label of intervals laid over some other labels, and over what lies between segments."""
    rest, number = list(found), 0
    kept: list[Segment] = []
    for begin, end in intervals:
        while number < len(rest) and rest[number].to_ps <= begin:
            kept.append(rest[number])
            number += 1
        at = begin
        while number < len(rest) and rest[number].from_ps < end:
            from_ps, to_ps, label = rest[number]
            if from_ps < begin:
                kept.append(Segment(from_ps, begin, label))
                from_ps = begin
            if label not in instead_of:
                if from_ps > at:
                    kept.append(Segment(at, from_ps, over))
                at = min(to_ps, end)
                kept.append(Segment(from_ps, at, label))
            if to_ps > end:
                rest[number] = Segment(end, to_ps, label)
                break
            number += 1
        if at < end:
            kept.append(Segment(at, end, over))
    return joined((*kept, *rest[number:]))


def launching(stacks: Sequence[Segment], slices: Sequence[Segment]) -> list[Segment]:
    """The samples' segments, in which copying between two calls is launching where it takes no longer than
    SHORT_PS: a session that is run for one value after the other spends its time around its runs, in the
    lines that convert what it takes and gives."""
    found: list[Segment] = []
    number = 0
    for stack in stacks:
        if stack.label != "copy":
            found.append(stack)
            continue
        at = stack.from_ps
        while number < len(slices) and slices[number].to_ps <= at:
            number += 1
        ahead = number
        while at < stack.to_ps:
            before = slices[ahead - 1].to_ps if ahead else None
            after = slices[ahead].from_ps if ahead < len(slices) else None
            until = stack.to_ps if after is None else min(max(after, at), stack.to_ps)
            short = before is not None and after is not None and after - before <= SHORT_PS
            if until > at:
                found.append(Segment(at, until, "dispatch" if short else "copy"))
            if after is None:
                break
            at = min(max(slices[ahead].to_ps, until), stack.to_ps)
            if at > until:
                found.append(Segment(until, at, "copy"))
            ahead += 1
    return joined(found)

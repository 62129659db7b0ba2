"""pprof: a profile of self times by stack, for `go tool pprof`, speedscope and every other reader of it.

Of the table stack_sample it is a profile of Python, with files and lines.

A stack is a slice with the slices that contain it; equal stacks are one sample, whose values are how often it
was and its self time, so that a flame graph is as wide as the busy time of the tracks. Labels tell the
track, so `pprof -tagfocus track=…` looks at one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope import _core
from stepscope.exporters import Written
from stepscope.exporters.stack_tree import StackTimes, tree
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".pb", ".pprof")
TEXT = True
DEFAULT = "slice"

Sample = tuple[int, Sequence[int], Sequence[tuple[str, str]]]
"""Number of a stack, a value of each kind, and labels: key and text."""

_LABELS = ("process", "track", "run", "host")


def write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes the slices, or the samples of stacks, as a profile. UsageError for another table."""
    if table not in (None, DEFAULT):
        return _write_samples(trace, out, table)
    stacks = StackTimes()
    rows = 0
    for batch in trace.query(statement("self_times")).batches():
        rows += len(batch)
        stacks.add(batch)
    span = trace.query(statement("slice_span")).rows()[0]
    origin = trace.query(statement("origin_span")).rows()[0]
    named = trace.query(statement("track_names")).rows()
    tracks: dict[int, Sequence[Any]] = {row[0]: row[1:] for row in named}
    profile = _core.pprof(
        (("slices", "count"), ("self", "nanoseconds")),
        stacks.names,
        stacks.nodes,
        _samples(stacks, tracks),
        default="self",
        start_unix_ns=_start(origin, span),
        span_ns=_nanos((span[1] or 0) - (span[0] or 0)),
    )
    out.write_bytes(profile)
    notes = (f"{len(stacks.values):,} different stacks of {len(stacks.names):,} names",)
    return Written(str(out), {"slice": rows}, notes)


def _write_samples(trace: OpenTrace, out: Path, table: str | None) -> Written:
    found = tree(trace, table)
    origin = trace.query(statement("origin_span")).rows()[0][0]
    span = trace.query(statement("sample_span")).rows()[0]
    profile = _core.pprof(
        (("samples", "count"), ("time", "nanoseconds")),
        found.frames,
        found.nodes,
        (
            (weight.stack, (weight.times, _nanos(weight.time_ps)), [("thread", weight.thread)])
            for weight in found.weights
        ),
        default="time",
        start_unix_ns=origin or 0,
        span_ns=_nanos((span[1] or 0) - (span[0] or 0)),
    )
    out.write_bytes(profile)
    return Written(str(out), {found.table: found.rows}, (f"{len(found.nodes):,} different stacks",))


def _samples(stacks: StackTimes, tracks: dict[int, Sequence[Any]]) -> Iterator[Sample]:
    for (stack, track), (count, self_ps) in stacks.values.items():
        places = tracks.get(track, ("", "", "", ""))
        labels = [(key, place or "") for key, place in zip(_LABELS, places, strict=True)]
        yield stack, (count, _nanos(self_ps)), labels


def _start(origin: Sequence[Any], span: Sequence[Any]) -> int:
    """Unix time of the first slice, where one clock tells it; else 0, which is pprof's unknown."""
    if origin[0] is None or origin[0] != origin[1] or span[0] is None:
        return 0
    return int(origin[0]) + _nanos(int(span[0]))


def _nanos(ps: int) -> int:
    return ps // 1000

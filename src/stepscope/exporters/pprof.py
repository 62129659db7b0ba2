"""pprof: a profile of self times by stack, for `go tool pprof`, speedscope and every other reader of it.

A stack is a slice with the slices that contain it; equal stacks are one sample, whose values are how often it
was and its self time, so that a flame graph is as wide as the busy time of the tracks. Labels tell the
track, so `pprof -tagfocus track=…` looks at one. Format: profile.proto of the pprof project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.exporters import Written

if TYPE_CHECKING:
    from stepscope.trace import Trace

EXTENSIONS = (".pb", ".pprof")
TEXT = True
DEFAULT = "slice"

_SLICES = """
SELECT s.track_id, s.depth, s.name, s.self_ps
FROM slice s
ORDER BY s.id"""
_TRACKS = """
SELECT t.id, t.process, t.name, t.run_id, t.host_id
FROM track t
ORDER BY t.id"""


def write(trace: Trace, out: Path, table: str | None) -> Written:
    """Writes the slices as a profile. UsageError for another table."""
    if table not in (None, DEFAULT):
        raise UsageError(
            "A profile is made of slices.",
            seen=f"--table {table}",
            todo="leave --table out, or write .parquet, .csv or .ndjson",
        )
    stacks = Stacks()
    rows = 0
    for batch in trace.query(_SLICES).batches():
        rows += len(batch)
        stacks.add(batch)
    span = trace.query("SELECT min(ts_ps), max(ts_ps + dur_ps), min(s.source_id) FROM slice s").rows()[0]
    origin = trace.query("SELECT min(origin_unix_ns), max(origin_unix_ns) FROM capture").rows()[0]
    tracks: dict[int, Sequence[Any]] = {row[0]: row[1:] for row in trace.query(_TRACKS).rows()}
    with out.open("wb") as file:
        for piece in profile(stacks, tracks, _start(origin, span), _nanos((span[1] or 0) - (span[0] or 0))):
            file.write(piece)
    notes = (f"{len(stacks.values):,} different stacks of {len(stacks.names):,} names",)
    return Written(str(out), {"slice": rows}, notes)


def _start(origin: Sequence[Any], span: Sequence[Any]) -> int:
    """Unix time of the first slice, where one clock tells it; else 0, which is pprof's unknown."""
    if origin[0] is None or origin[0] != origin[1] or span[0] is None:
        return 0
    return int(origin[0]) + _nanos(int(span[0]))


def _nanos(ps: int) -> int:
    return ps // 1000


class Stacks:
    """Self times by stack, from slices in the order of their ids: by track, parents before children."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.nodes: dict[tuple[int, int], int] = {}
        """(parent or -1, name) of every stack, to its number."""
        self.values: dict[tuple[int, int], list[int]] = {}
        """(stack, track): how often, self picoseconds."""
        self._track: int | None = None
        self._open: list[int] = []

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Takes (track, depth, name, self_ps) in."""
        names, nodes, values = self.names, self.nodes, self.values
        for track, depth, name, self_ps in rows:
            if track != self._track:
                self._track, self._open = track, []
            del self._open[depth:]
            parent = self._open[-1] if self._open else -1
            number = names.setdefault(name, len(names))
            node = nodes.setdefault((parent, number), len(nodes))
            self._open.append(node)
            value = values.get((node, track))
            if value is None:
                values[node, track] = [1, self_ps]
            else:
                value[0] += 1
                value[1] += self_ps


def profile(
    stacks: Stacks, tracks: dict[int, Sequence[Any]], start_unix_ns: int, span_ns: int
) -> Iterator[bytes]:
    """The fields of a Profile, piece by piece."""
    texts: dict[str, int] = {"": 0}

    def text(value: str) -> int:
        return texts.setdefault(value, len(texts))

    for kind, unit in (("slices", "count"), ("self", "nanoseconds")):
        yield _message(1, _number(1, text(kind)) + _number(2, text(unit)))
    parents = [parent for parent, _ in stacks.nodes]
    frames = [name for _, name in stacks.nodes]
    for (node, track), (count, self_ps) in stacks.values.items():
        locations = []
        at = node
        while at >= 0:
            locations.append(frames[at] + 1)
            at = parents[at]
        packed = b"".join(map(_varint, locations))
        body = _message(1, packed) + _message(2, _varint(count) + _varint(_nanos(self_ps)))
        process, name, run, host = tracks.get(track, ("", "", "", ""))
        for key, value in (("process", process), ("track", name), ("run", run), ("host", host)):
            if value:
                body += _message(3, _number(1, text(key)) + _number(2, text(value)))
        yield _message(2, body)
    for name, number in stacks.names.items():
        # A location for each function: there are no addresses.
        yield _message(4, _number(1, number + 1) + _message(4, _number(1, number + 1)))
        yield _message(5, _number(1, number + 1) + _number(2, text(name)) + _number(3, text(name)))
    default = text("self")
    for value in texts:
        yield _message(6, value.encode("utf-8", "replace"))
    if start_unix_ns > 0:
        yield _number(9, start_unix_ns)
    yield _number(10, span_ns) + _number(14, default)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body

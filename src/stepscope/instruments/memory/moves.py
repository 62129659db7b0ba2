"""What allocators recorded: RunMetadata's allocation records, XPlane's and Kineto's memory events.

One Move is one allocation or one freeing. Sources and their units: `AllocationRecord.alloc_micros` (Unix
microseconds) of StepStats; the XPlane events MemoryAllocation and MemoryDeallocation with their stats
`addr`, `allocation_bytes`, `bytes_allocated` (all that is held after the event); Kineto's instants
`[memory]` with `Addr`, `Bytes` and `Total Allocated`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.formats._op_log import CodeLine, is_framework
from stepscope.instruments import python_frame
from stepscope.library.statements import Query, statement

MOST_MOVES = 500_000
"""Movements of one source that are read, the first ones in time."""


@dataclass(frozen=True)
class Pool:
    """What an allocator has left to give."""

    ts_ps: int
    fragmentation: float
    """Part of the free bytes of its regions that is not in the largest free piece, from 0 to 1."""
    available_bytes: int | None
    """Bytes that it may still take."""


@dataclass(frozen=True)
class Move:
    """Bytes that an allocator gave (positive) or took back (negative)."""

    ts_ps: int
    delta_bytes: int
    allocator: str
    device: str
    address: int | None
    """Identity of the block, where known."""
    op_run_id: int | None
    """Execution that the allocator did it for; also the identity of a block without an address."""
    op_name: str | None
    op_type: str | None
    kind: str | None = None
    """output, temp or persistent, where the recorder says so."""
    dtype: int | None = None
    """Number of the element type, where told."""
    shape: tuple[int, ...] | None = None
    total_bytes: int | None = None
    """What the allocator says that it holds after it."""
    code: CodeLine | None = None
    """The line of the program that it was for, where the recorder followed Python."""
    requested_bytes: int | None = None
    """What was asked for; the allocator gives at least that."""
    pool: Pool | None = None
    """The state of the allocator after it."""


def read(query: Query, source_id: int) -> tuple[list[Move], bool]:
    """The movements of a source in the order of time, and whether that is all of them."""
    for one in (_records, _xplane, _kineto):
        if moves := one(query, source_id):
            return moves, len(moves) < MOST_MOVES
    return [], True


def beyond(query: Query, source_id: int) -> int:
    """How many movements of a source are not read, because there are more than that."""
    for _, _, count in query(statement("memory_movements", source_id=source_id)).rows():
        if count:
            return max(int(count) - MOST_MOVES, 0)
    return 0


def _rows(query: Query, name: str, source_id: int) -> Sequence[Sequence[Any]]:
    return query(statement(name, source_id=source_id, most=MOST_MOVES)).rows()


def _records(query: Query, source_id: int) -> list[Move]:
    rows = _rows(query, "memory_records", source_id)
    return [
        Move(ts, delta, allocator, device or "", address, run, op_name, op_type)
        for ts, delta, allocator, address, run, op_name, op_type, device in rows
        if delta
    ]


def _xplane(query: Query, source_id: int) -> list[Move]:
    moves = []
    for ts, name, text in _rows(query, "memory_events", source_id):
        args = _object(text)
        size = _whole(args.get("allocation_bytes"))
        address = _whole(args.get("addr"))
        if not size:
            continue
        freed = name == "MemoryDeallocation"
        moves.append(
            Move(
                ts,
                -size if freed else size,
                str(args.get("allocator_name", "unknown")),
                "",
                address or None,
                None,
                None if freed else str(args.get("tf_op") or "") or None,
                None,
                _KINDS.get(str(args.get("region_type", "")).lower()),
                _whole(args.get("data_type")) or None,
                _shape(args.get("shape")),
                _whole(args.get("bytes_allocated")),
                requested_bytes=_whole(args.get("requested_bytes")),
                pool=_pool(ts, args),
            )
        )
    return moves


def _pool(ts_ps: int, args: dict[str, Any]) -> Pool | None:
    """None where the event does not tell."""
    share = args.get("fragmentation")
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        return None
    return Pool(ts_ps, float(share), _whole(args.get("bytes_available")))


_KINDS = {
    "output": "output",
    "temp": "temporary",
    "persist/dynamic": "persistent",
    "persistent": "persistent",
}


def _kineto(query: Query, source_id: int) -> list[Move]:
    rows = _rows(query, "memory_instants", source_id)
    if not rows:
        return []
    innermost = _Innermost(query(statement("memory_threads", source_id=source_id)).rows())
    moves = []
    for ts, track, text in sorted(rows, key=lambda row: (row[1], row[0])):
        args = _object(text)
        delta = _whole(args.get("Bytes"))
        if not delta:
            continue
        kind, number = _whole(args.get("Device Type")), _whole(args.get("Device Id"))
        # 0 is the CPU and 1 a CUDA device in PyTorch's c10::DeviceType.
        place = {0: "cpu", 1: "cuda"}.get(kind if kind is not None else 0, f"device type {kind}")
        name = place if number is None or number < 0 else f"{place}:{number}"
        op, code = innermost.at(track, ts) if delta > 0 else (None, None)
        total = _whole(args.get("Total Allocated"))
        address = _whole(args.get("Addr"))
        moves.append(Move(ts, delta, name, name, address, None, op, op, total_bytes=total, code=code))
    moves.sort(key=lambda move: move.ts_ps)
    return moves


class _Open(NamedTuple):
    """A slice that has begun, with what it inherits from those around it."""

    end_ps: int
    name: str
    own: CodeLine | None
    """The innermost line of the program's own, from here outwards."""
    any: CodeLine | None
    """The innermost line of all."""


class _Innermost:
    """The innermost slice of a track at a time; to be asked in the order of (track, time)."""

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        """rows: (track, begin, end, depth, name), outer ones first."""
        self._rows = rows
        self._next = 0
        self._open: list[_Open] = []
        self._track: int | None = None
        self._frames: dict[str, CodeLine | None] = {}

    def at(self, track: int, ts: int) -> tuple[str | None, CodeLine | None]:
        """Its name, None between slices; and the innermost line of the program's own around it, or else of
        all lines, None where no Python is."""
        if track != self._track:
            self._track = track
            self._open.clear()
            while self._next < len(self._rows) and self._rows[self._next][0] < track:
                self._next += 1
        while self._next < len(self._rows):
            of, begin, end, depth, name = self._rows[self._next]
            if of != track or begin > ts:
                break
            self._next += 1
            # What lies as deep was over when this one began, even though nobody asked in between.
            del self._open[depth:]
            self._open.append(self._opened(end, name))
        # An outer slice ends no sooner than those in it.
        while self._open and self._open[-1].end_ps < ts:
            self._open.pop()
        if not self._open:
            return None, None
        found = self._open[-1]
        return found.name, found.own or found.any

    def _opened(self, end_ps: int, name: str) -> _Open:
        outer = self._open[-1] if self._open else None
        if name not in self._frames:
            call = python_frame.of_pytorch(name)
            self._frames[name] = CodeLine(*call) if call else None
        line = self._frames[name]
        if line is None:
            return _Open(end_ps, name, outer.own if outer else None, outer.any if outer else None)
        own = line if not is_framework(line.file) else outer.own if outer else None
        return _Open(end_ps, name, own, line)


def _object(text: str | None) -> dict[str, Any]:
    return strict_json.members(text)


def _whole(value: object) -> int | None:
    """A whole number, which some recorders write as text."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    try:
        return int(str(value))
    except ValueError:
        return None


def _shape(value: object) -> tuple[int, ...] | None:
    sizes = strict_json.told(value) if isinstance(value, str) else value
    if isinstance(sizes, list) and all(isinstance(size, int) for size in sizes):
        return tuple(sizes)
    return None

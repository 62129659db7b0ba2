"""Records of allocators: RunMetadata's allocation records, XPlane's and Kineto's memory events.

One Move is one allocation or one freeing. Sources and their units: `AllocationRecord.alloc_micros` (Unix
microseconds) of StepStats; the XPlane events MemoryAllocation and MemoryDeallocation with their stats
`addr`, `allocation_bytes`, `bytes_allocated` (all that is held after the event); Kineto's instants
`[memory]` with `Addr`, `Bytes` and `Total Allocated`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.code_lines import CodeLine, is_framework
from stepscope.instruments import python_frame
from stepscope.library.statements import Query, statement

MOST_MOVES = 500_000
"""Most moves that are read from a source: the first in time."""


@dataclass(frozen=True)
class Pool:
    """What an allocator has left."""

    ts_ps: int
    fragmentation: float
    """Fragmentation: the part of the free bytes outside the largest free piece, from 0 to 1."""
    available_bytes: int | None
    """Bytes that the allocator may still reserve."""


class Move(NamedTuple):
    """Bytes that an allocator gave out (positive) or took back (negative)."""

    ts_ps: int
    delta_bytes: int
    allocator: str
    device: str
    address: int | None
    """Identity of the block, where known."""
    op_run_id: int | None
    """The execution that the memory was for; also the identity of a block without an address."""
    op_name: str | None
    op_type: str | None
    kind: str | None = None
    """output, temp or persistent, where the recorder reports it."""
    dtype: int | None = None
    """Number of the element type, where known."""
    shape: tuple[int, ...] | None = None
    total_bytes: int | None = None
    """The total that the allocator reports after the move."""
    code: CodeLine | None = None
    """The line of the program that the memory was for, where the recorder traced Python."""
    requested_bytes: int | None = None
    """Bytes requested; the allocator gives out at least as many."""
    pool: Pool | None = None
    """The state of the allocator after it."""


def read(query: Query, source_id: int, named: bool = True) -> tuple[list[Move], bool]:
    """The moves of a source in order of time, and whether these are all. named: find out what each was for,
    which may search all slices."""
    for read_moves in (_records, _xplane, _kineto if named else _unnamed):
        if moves := read_moves(query, source_id):
            return moves, len(moves) < MOST_MOVES
    return [], True


def count_unread(query: Query, source_id: int) -> int:
    """The number of moves that are not read, because the source has too many."""
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
    for row in _rows(query, "memory_events", source_id):
        ts_ps, name, size_text, address, allocator, op_name, region, dtype, shape, total, requested, *pool = (
            row
        )
        size = _whole(size_text)
        if not size:
            continue
        freed = name == "MemoryDeallocation"
        moves.append(
            Move(
                ts_ps,
                -size if freed else size,
                allocator or "unknown",
                "",
                _whole(address) or None,
                None,
                None if freed else op_name,
                None,
                _KINDS.get((region or "").lower()),
                _whole(dtype) or None,
                _shape(shape),
                _whole(total),
                requested_bytes=_whole(requested),
                pool=_pool(ts_ps, *pool),
            )
        )
    return moves


def _pool(ts_ps: int, fragmentation: str | None, available: str | None) -> Pool | None:
    """A value that the event may not have."""
    if not fragmentation:
        return None
    try:
        share = float(fragmentation)
    except ValueError:
        return None
    return Pool(ts_ps, share, _whole(available)) if 0 <= share <= 1 else None


_KINDS = {
    "output": "output",
    "temp": "temporary",
    "persist/dynamic": "persistent",
    "persistent": "persistent",
}


def _unnamed(query: Query, source_id: int) -> list[Move]:
    return _kineto(query, source_id, named=False)


def _kineto(query: Query, source_id: int, named: bool = True) -> list[Move]:
    rows = _rows(query, "memory_instants", source_id)
    if not rows:
        return []
    at = _Innermost(_slices_around(query, source_id) if named else ()).slice_at
    moves = []
    for ts, track, size, kind, number, address, total in sorted(rows, key=itemgetter(1, 0)):
        delta = _whole(size)
        if not delta:
            continue
        name = _pytorch_device(kind, number)
        op, code = at(track, ts) if delta > 0 else (None, None)
        moves.append(
            Move(ts, delta, name, name, _whole(address), None, op, op, total_bytes=_whole(total), code=code)
        )
    moves.sort(key=itemgetter(0))
    return moves


def _slices_around(query: Query, source_id: int) -> Iterator[Sequence[Any]]:
    """Slices that contain moves, a batch at a time: each move may lie in a hundred slices."""
    return chain.from_iterable(
        query(statement("memory_threads", source_id=source_id, most=MOST_MOVES)).batches()
    )


HOST = "cpu"
"""PyTorch's name for the host."""
_PYTORCH_DEVICES = {
    None: HOST, 0: HOST, 1: "cuda", 6: "hip", 9: "xla", 12: "xpu", 13: "mps", 15: "hpu", 19: "mtia",
}  # fmt: skip
"""By number in PyTorch's c10::DeviceType."""


@functools.cache
def _pytorch_device(kind: str | None, number: str | None) -> str:
    """A device under PyTorch's name for it."""
    place = _PYTORCH_DEVICES.get(_whole(kind), f"device type {kind}")
    index = _whole(number)
    return place if index is None or index < 0 else f"{place}:{index}"


_Lines = tuple[CodeLine | None, CodeLine | None]
"""The innermost line of the program's own code, and the innermost line of all."""
_NO_LINES: _Lines = (None, None)


class _Innermost:
    """The innermost slice of a track. Queries must come in order of (track, time)."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        """rows: (track, begin, end, depth, name), outer slices first."""
        self._rows = iter(rows)
        self._next: Sequence[Any] | None = next(self._rows, None)
        self._ends: list[int] = []
        """Ends of the slices that are open, outer ones first; the next two lists are parallel to it."""
        self._names: list[str] = []
        self._lines: list[_Lines] = []
        self._track: int | None = None
        self._frames: dict[str, tuple[CodeLine | None, bool]] = {}
        """By name: the line, and whether it is the program's own."""

    def slice_at(self, track: int, ts: int) -> tuple[str | None, CodeLine | None]:
        """The name of the innermost slice, None between slices; and the innermost line of the program's own
        code around it, or else of any code, None where no Python is on the stack."""
        rows, ends, names, lines = self._rows, self._ends, self._names, self._lines
        row = self._next
        if track != self._track:
            self._track = track
            self._close(0)
            while row is not None and row[0] < track:
                row = next(rows, None)
        while row is not None:
            of, begin, end, depth, name = row
            if of != track or begin > ts:
                break
            # A slice at the same depth had ended when this one began, even if no query came in between.
            if len(ends) > depth:
                self._close(depth)
            lines.append(self._enclosing_lines(name, lines[-1] if lines else _NO_LINES))
            ends.append(end)
            names.append(name)
            row = next(rows, None)
        self._next = row
        # An outer slice ends no sooner than those inside it.
        while ends and ends[-1] < ts:
            self._close(len(ends) - 1)
        if not ends:
            return None, None
        program_line, of_all = lines[-1]
        return names[-1], program_line or of_all

    def _close(self, depth: int) -> None:
        """Keeps this many outer slices."""
        del self._ends[depth:], self._names[depth:], self._lines[depth:]

    def _enclosing_lines(self, name: str, outer: _Lines) -> _Lines:
        """The lines around a slice, its own included."""
        if (frame := self._frames.get(name)) is None:
            call = python_frame.pytorch_call(name)
            call_line = CodeLine(*call) if call else None
            frame = self._frames[name] = call_line, call_line is not None and not is_framework(call_line.file)
        line, is_own = frame
        if line is None:
            return outer
        return (line if is_own else outer[0]), line


def _whole(text: str | None) -> int | None:
    """A whole number; None for anything else."""
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


@functools.cache
def _shape(text: str | None) -> tuple[int, ...] | None:
    sizes = strict_json.value(text)
    if isinstance(sizes, list) and all(isinstance(size, int) for size in sizes):
        return tuple(sizes)
    return None

"""Records of allocators: RunMetadata's allocation records, XPlane's and Kineto's memory events.

One Move is one allocation or one freeing. Sources and their units: `AllocationRecord.alloc_micros` (Unix
microseconds) of StepStats; the XPlane events MemoryAllocation and MemoryDeallocation with their stats
`addr`, `allocation_bytes`, `bytes_allocated` (all that is held after the event); Kineto's instants
`[memory]` with `Addr`, `Bytes` and `Total Allocated`.
"""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

from stepscope import _core, strict_json
from stepscope.code_lines import CodeLine, is_framework
from stepscope.instruments import python_frame
from stepscope.library.statements import Query, Stream, statement

MOST_MOVES = 500_000
"""Most moves that are read from a source: the first in time."""


@dataclass(frozen=True)
class Pool:
    """What an allocator has left."""

    ts_ps: int
    fragmentation: float
    """Fragmentation: the part of the free bytes outside the largest free piece, from 0 to 1."""


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


def read(query: Query, source_id: int, stream: Stream | None = None) -> tuple[list[Move], bool]:
    """The moves of a source in order of time, and whether these are all. stream: gives the slices that tell
    what each was for, where its record does not; None leaves that open."""
    for read_moves in (_records, _xplane, partial(_kineto, stream=stream)):
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
        ts_ps, name, size_text, address, allocator, op_name, region, dtype, shape, *pool = row
        total, requested, fragmentation = pool
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
                pool=_pool(ts_ps, fragmentation),
            )
        )
    return moves


def _pool(ts_ps: int, fragmentation: str | None) -> Pool | None:
    """A value that the event may not have."""
    if not fragmentation:
        return None
    try:
        share = float(fragmentation)
    except ValueError:
        return None
    return Pool(ts_ps, share) if 0 <= share <= 1 else None


_KINDS = {
    "output": "output",
    "temp": "temporary",
    "persist/dynamic": "persistent",
    "persistent": "persistent",
}


def _kineto(query: Query, source_id: int, stream: Stream | None = None) -> list[Move]:
    rows = _rows(query, "memory_instants", source_id)
    if not rows:
        return []
    times, tracks, sizes, kinds, indices, addresses, totals = zip(*rows, strict=True)
    deltas = [size or 0 for size in sizes]
    devices = list(map(_pytorch_device, kinds, indices))
    ops: Iterable[str | None] = repeat(None)
    lines: Iterable[CodeLine | None] = repeat(None)
    if stream is not None:
        gave = [at for at, delta in enumerate(deltas) if delta > 0]
        gave.sort(key=tracks.__getitem__)  # within a thread they are in order of time
        numbers, names, codes = _slices_around(stream, source_id, [(tracks[at], times[at]) for at in gave])
        which = [_NOTHING] * len(rows)
        for at, number in zip(gave, numbers, strict=True):
            which[at] = number
        ops, lines = [names[number] for number in which], [codes[number] for number in which]
    none = repeat(None)
    members = {
        "ts_ps": times,
        "delta_bytes": deltas,
        "allocator": devices,
        "device": devices,
        "address": addresses,
        "op_name": ops,
        "op_type": ops,
        "total_bytes": totals,
        "code": lines,
    }
    # There are up to half a million: made from columns, they take a third of the time.
    found = map(Move._make, zip(*(members.get(name, none) for name in Move._fields), strict=False))
    return [move for move in found if move.delta_bytes]


_NOTHING = -1
"""The number of no slice."""


def _slices_around(
    stream: Stream, source_id: int, moments: Sequence[tuple[int, int]]
) -> tuple[Sequence[int], Sequence[str | None], Sequence[CodeLine | None]]:
    """What is open at moments of threads, which come in order: numbers in the lists behind, which have the
    name of the innermost slice; and the innermost line of the program's own code around it, or else of any
    code, None where no Python is on the stack. The last ones, of _NOTHING, are None."""
    numbers, found = _core.innermost_slices(
        stream(statement("memory_threads", source_id=source_id)),
        stream(statement("memory_thread_names", source_id=source_id)),
        moments,
        _is_of_program,
    )
    lines = [None if line is None else _line_of(line) for _, line in found]
    return numbers, [*(name for name, _ in found), None], [*lines, None]


def _line_of(name: str) -> CodeLine | None:
    """The line of a call, None for other slices."""
    call = python_frame.pytorch_call(name)
    return CodeLine(*call) if call else None


def _is_of_program(name: str) -> bool | None:
    """Whether a call is of the program's own code; None for other slices."""
    line = _line_of(name)
    return None if line is None else not is_framework(line.file)


HOST = "cpu"
"""PyTorch's name for the host."""
_PYTORCH_DEVICES = {
    None: HOST, 0: HOST, 1: "cuda", 6: "hip", 9: "xla", 12: "xpu", 13: "mps", 15: "hpu", 19: "mtia",
}  # fmt: skip
"""By number in PyTorch's c10::DeviceType."""


@functools.cache
def _pytorch_device(kind: int | None, number: int | None) -> str:
    """A device under PyTorch's name for it."""
    place = _PYTORCH_DEVICES.get(kind, f"device type {kind}")
    return place if number is None or number < 0 else f"{place}:{number}"


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

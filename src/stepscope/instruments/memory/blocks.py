"""Blocks of memory: an allocation and what freed it."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import itemgetter
from typing import Generic, Literal, TypeVar

from stepscope.code_lines import CodeLine
from stepscope.instruments.memory.moves import Move, Pool

T = TypeVar("T")


@dataclass(slots=True)
class MemoryBlock:
    """Bytes held from `born_ps` to `freed_ps`. None: since before the recording, or until after it."""

    bytes: int
    born_ps: int | None
    freed_ps: int | None
    op_name: str | None = None
    op_type: str | None = None
    op_run_id: int | None = None
    address: int | None = None
    kind: str = "unknown"
    """output, temporary (freed when its op ended), persistent, or unknown."""
    slot: int | None = None
    """Which output of the op."""
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    uses: tuple[tuple[int, int, str], ...] = ()
    """Reads that the graph implies: from, to, op."""
    last_use_ps: int | None = None
    """When the last reader ended, by the graph; None when unknown."""
    timeline_ps: int | None = None
    """When TensorFlow's Timeline would end the buffer."""
    code: CodeLine | None = None
    """The line of the program that made the op."""
    requested_bytes: int | None = None
    """Bytes requested, where known."""


@dataclass(frozen=True)
class Spans:
    """The tensors that TensorFlow's Timeline drew for an allocator."""

    tensors: int
    read_later: int
    """Tensors that a later op names: they last until that op ends. All others end with the op that made
    them."""
    endless: int
    """Tensors whose end Timeline does not draw, because their op ran again."""
    nowhere: int = 0
    """Further tensors without an allocator: they have no memory of their own."""


@dataclass
class AllocatorBlocks:
    """The blocks of one allocator of one device."""

    allocator: str
    device: str
    blocks: list[MemoryBlock] = field(default_factory=list)
    base_bytes: int = 0
    """Bytes held before the recording began and never freed in it; known only where the allocator reports
    totals."""
    contradictions: int = 0
    """Events whose reported total differs from the sum of the blocks."""
    totals: int = 0
    """Events that report a total."""
    way: Literal["events", "held", "sizes", "stacks", "variables", "timeline"] = "events"
    """How the blocks were recorded: one by one, those held at one moment, as sizes of categories over time,
    as the holdings of each stack or variable at one moment, or derived as TensorFlow's Timeline does. Blocks
    of sizes add up to these sizes; they are not tensors."""
    spans: Spans | None = None
    """What Timeline drew, where Timeline is the source."""
    pools: list[Pool] = field(default_factory=list)
    """States of the allocator that events reported, in order of time."""

    @property
    def is_moment(self) -> bool:
        """Whether the recording is a snapshot of one moment."""
        return self.way in ("held", "stacks", "variables")


class _OpenBlocks(Generic[T]):
    """Blocks that are held, by identity; nearly every identity has one."""

    def __init__(self) -> None:
        self._there: dict[object, T | deque[T]] = {}

    def add(self, name: object, block: T) -> None:
        """Adds a block; it is taken after the blocks of its name that are there already."""
        waiting = self._there.get(name)
        if waiting is None:
            self._there[name] = block
        elif isinstance(waiting, deque):
            waiting.append(block)
        else:
            self._there[name] = deque((waiting, block))

    def take(self, name: object) -> T | None:
        """Removes and returns the oldest block of this name; None when there is none."""
        waiting = self._there.pop(name, None)
        if not isinstance(waiting, deque):
            return waiting
        found = waiting.popleft()
        if waiting:
            self._there[name] = waiting
        return found


def pair(moves: Iterable[Move]) -> list[AllocatorBlocks]:
    """The blocks of each allocator, in order of allocation. A free belongs to the block at its address;
    without addresses, to the oldest block of that size allocated for the same execution. A free without an
    allocation releases a block from before the recording."""
    return [_paired(of_one) for of_one in _moves_by_allocator(moves).values()]


def _moves_by_allocator(moves: Iterable[Move]) -> dict[tuple[str, str], list[Move]]:
    """The moves of each device and allocator."""
    found: dict[tuple[str, str], list[Move]] = defaultdict(list)
    for move in moves:
        # Kineto and XPlane free on other threads and devices: only the allocator identifies the block.
        found[move.device, move.allocator].append(move)
    return found


def _paired(moves: Sequence[Move]) -> AllocatorBlocks:
    """The blocks of an allocator from all of its moves."""
    held = AllocatorBlocks(moves[0].allocator, moves[0].device)
    open_: _OpenBlocks[MemoryBlock] = _OpenBlocks()
    for move in moves:
        name = _name_of(move)
        if move.delta_bytes > 0:
            block = MemoryBlock(
                move.delta_bytes,
                move.ts_ps,
                None,
                move.op_name,
                move.op_type,
                move.op_run_id,
                move.address,
                move.kind or "unknown",
                dtype=_DTYPES.get(move.dtype or 0),
                shape=move.shape,
                code=move.code,
                requested_bytes=move.requested_bytes,
            )
            held.blocks.append(block)
            open_.add(name, block)
        elif (freed := open_.take(name)) is not None:
            freed.freed_ps = move.ts_ps
        else:
            held.blocks.append(MemoryBlock(-move.delta_bytes, None, move.ts_ps, address=move.address))
    _balance(held, moves)
    held.pools += [move.pool for move in moves if move.pool is not None]
    return held


def most_held(moves: Iterable[Move]) -> dict[tuple[str, str], int]:
    """The most bytes that each device and allocator held at once: the peaks of pair(), without their
    blocks."""
    return {key: _most_held(of_one) for key, of_one in _moves_by_allocator(moves).items()}


def _most_held(moves: Sequence[Move]) -> int:
    """The highest point of the curve of an allocator, from all of its moves in order of time."""
    open_: _OpenBlocks[int] = _OpenBlocks()
    changes: list[tuple[int, int]] = []  # as in stepscope.instruments.memory.peak.curve
    before = 0  # bytes freed without an allocation
    for move in moves:
        delta, name = move.delta_bytes, _name_of(move)
        if delta > 0:
            open_.add(name, delta)
            changes.append((2 * move.ts_ps, delta))
        else:
            if (freed := open_.take(name)) is None:
                before -= delta
            else:
                delta = -freed
            changes.append((2 * move.ts_ps + 1, delta))
    changes.sort(key=itemgetter(0))
    held = before + max(_offset(moves, before) or 0, 0)
    return max(accumulate((delta for _, delta in changes), initial=held))


def _offset(moves: Iterable[Move], before: int) -> int | None:
    """By how much the first total that the allocator reports exceeds what is known of; None without any."""
    now = before
    for move in moves:
        now += move.delta_bytes
        if move.total_bytes is not None:
            return move.total_bytes - now
    return None


def _name_of(move: Move) -> object:
    """The identity of a moved block among those of its allocator."""
    return ("run", move.op_run_id, abs(move.delta_bytes)) if move.address is None else move.address


def _balance(held: AllocatorBlocks, moves: Sequence[Move]) -> None:
    """Compares the sum of the blocks with the totals that the allocator reports."""
    now = sum(block.bytes for block in held.blocks if block.born_ps is None)
    offset: int | None = None
    for move in moves:
        now += move.delta_bytes
        if move.total_bytes is None:
            continue
        held.totals += 1
        if offset is None:
            # Negative when the total leaves out blocks freed from before the recording: the base is unknown.
            offset = move.total_bytes - now
            held.base_bytes = max(offset, 0)
        elif move.total_bytes - now != offset:
            held.contradictions += 1
            offset = move.total_bytes - now


# As numbered in TensorFlow's types.proto.
_DTYPES = {
    1: "DT_FLOAT", 2: "DT_DOUBLE", 3: "DT_INT32", 4: "DT_UINT8", 5: "DT_INT16", 6: "DT_INT8", 7: "DT_STRING",
    8: "DT_COMPLEX64", 9: "DT_INT64", 10: "DT_BOOL", 14: "DT_BFLOAT16", 17: "DT_UINT16", 18: "DT_COMPLEX128",
    19: "DT_HALF", 20: "DT_RESOURCE", 21: "DT_VARIANT", 22: "DT_UINT32", 23: "DT_UINT64",
}  # fmt: skip

"""The memory curve, its peak, and the holders at the peak."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from stepscope.instruments.memory.blocks import MemoryBlock
from stepscope.instruments.python_frame import pytorch_call


@dataclass(frozen=True)
class Peak:
    """The most that was held at once."""

    bytes: int
    ts_ps: int | None
    """When the peak was first reached; None without any move."""
    blocks: tuple[MemoryBlock, ...]
    """Blocks held at the peak, largest first; `base_bytes` belongs to no block."""


def curve(blocks: Iterable[MemoryBlock], base_bytes: int = 0) -> list[tuple[int, int]]:
    """Bytes held from each time on, in order of time. Allocations count before frees of the same time, so the
    curve shows what may have been held at once: a block freed as soon as it is allocated still counts."""
    moves: list[tuple[int, int]] = []
    """Twice the time, and one more for a free at that time."""
    held = base_bytes
    for block in blocks:
        if block.born_ps is None:
            held += block.bytes
        else:
            moves.append((2 * block.born_ps, block.bytes))
        if block.freed_ps is not None:
            moves.append((2 * block.freed_ps + 1, -block.bytes))
    moves.sort(key=itemgetter(0))
    points: list[tuple[int, int]] = []
    if moves:
        points.append((moves[0][0] // 2, held))
    for at, delta in moves:
        held += delta
        points.append((at // 2, held))
    return points


def peak(
    blocks: Sequence[MemoryBlock], base_bytes: int = 0, points: Sequence[tuple[int, int]] | None = None
) -> Peak:
    """The highest point of the curve. points: the curve, where it has been computed."""
    if points is None:
        points = curve(blocks, base_bytes)
    before = base_bytes + sum(block.bytes for block in blocks if block.born_ps is None)
    if not points:
        return Peak(before, None, tuple(sorted(blocks, key=lambda block: -block.bytes)))
    most = max(map(itemgetter(1), points))
    ts = next(ts for ts, held in points if held == most)  # points are in order of time
    if before >= most:
        held_then = [block for block in blocks if block.born_ps is None]
    else:
        held_then = [block for block in blocks if is_held(block, ts)]
    return Peak(
        max(most, before), ts, tuple(sorted(held_then, key=lambda block: (-block.bytes, block.op_name or "")))
    )


def is_held(block: MemoryBlock, ts_ps: int) -> bool:
    """Whether a block is held at a time, both ends included."""
    return (block.born_ps is None or block.born_ps <= ts_ps) and (
        block.freed_ps is None or block.freed_ps >= ts_ps
    )


@dataclass(frozen=True)
class PeakHolder:
    """A holder of memory at the peak."""

    name: str
    bytes: int
    blocks: int


def holders(blocks: Iterable[MemoryBlock], by: Callable[[MemoryBlock], str]) -> list[PeakHolder]:
    """The holders, largest first."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for block in blocks:
        entry = sums[by(block)]
        entry[0] += block.bytes
        entry[1] += 1
    found = [PeakHolder(name, size, count) for name, (size, count) in sums.items()]
    return sorted(found, key=lambda holder: (-holder.bytes, holder.name))


def op_of(block: MemoryBlock) -> str:
    """The op that asked for a block."""
    if block.born_ps is None:
        return "(held before the recording began)"
    return block.op_name or "(unknown op)"


def scope_of(depth: int) -> Callable[[MemoryBlock], str]:
    """The name scope of that op, cut to a number of levels."""

    def scope(block: MemoryBlock) -> str:
        name = op_of(block)
        if block.op_name is None:
            return name
        parts = name.split("/")
        return "/".join(parts[: min(depth, max(len(parts) - 1, 1))])

    return scope


def is_frame(block: MemoryBlock) -> bool:
    """Whether the block belongs to a call of Python, whose name is a place and no scope."""
    return pytorch_call(block.op_name or "") is not None


def tensor_of(block: MemoryBlock) -> str:
    """The tensor that a block is."""
    if block.slot is None and block.shape is None:
        return op_of(block) if block.kind in (None, "unknown") else f"{op_of(block)} ({block.kind})"
    shape = "" if block.shape is None else " [" + ", ".join(map(str, block.shape)) + "]"
    slot = f":{block.slot}" if block.slot else ""
    return f"{op_of(block)}{slot} {(block.dtype or '').removeprefix('DT_').lower()}{shape}".rstrip()


def code_of(block: MemoryBlock, files: Mapping[str, str] | None = None) -> str:
    """The line that created the op. files: display names of files, by path."""
    if block.code is None:
        return "(held before the recording began)" if block.born_ps is None else "(line not known)"
    file = block.code.file if files is None else files[block.code.file]
    return f"{file}:{block.code.line}" + (f" {block.code.function}" if block.code.function else "")

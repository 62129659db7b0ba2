"""Free memory that an allocator cannot give out: pieces between blocks, and padding from rounding up."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stepscope.instruments.memory.blocks import MemoryBlock
from stepscope.instruments.memory.moves import Pool


@dataclass(frozen=True)
class Fragmentation:
    """Fragmentation of an allocator's regions. Shares are parts of the free bytes outside the largest free
    piece: at 0.4 of 1 GB, the largest block that fits without another region is 0.6 GB."""

    at_peak: float | None
    """Fragmentation when most was held; None when no event had reported it by then."""
    most: float
    most_ps: int
    """When fragmentation was first at its highest."""


def fragmentation(pools: Sequence[Pool], peak_ps: int | None) -> Fragmentation | None:
    """The fragmentation of an allocator; None when no event reports it. pools: in order of time."""
    if not pools:
        return None
    before = 0 if peak_ps is None else bisect_right(pools, peak_ps, key=lambda pool: pool.ts_ps)
    worst = max(pools, key=lambda pool: pool.fragmentation)
    at_peak = pools[before - 1].fragmentation if before else None
    return Fragmentation(at_peak, worst.fragmentation, worst.ts_ps)


def rounded_up(blocks: Iterable[MemoryBlock]) -> int:
    """Padding: bytes of blocks beyond what was requested."""
    return sum(max(block.bytes - (block.requested_bytes or block.bytes), 0) for block in blocks)

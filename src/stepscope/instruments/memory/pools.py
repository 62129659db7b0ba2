"""Room that an allocator has but cannot give: pieces between blocks, and what rounding up takes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stepscope.instruments.memory.blocks import MemoryBlock
from stepscope.instruments.memory.moves import Pool


@dataclass(frozen=True)
class Fragmentation:
    """How far the free bytes of an allocator's regions lie apart. Shares are parts of them that are not in
    the largest free piece: with 0.4 of 1 GB, at most 0.6 GB can be had at once without another region."""

    at_peak: float | None
    """When most was held; None when no event had told by then."""
    most: float
    most_ps: int
    """When it was highest, first."""
    least_available_bytes: int | None
    """The least that the allocator could still have taken."""


def fragmentation(pools: Sequence[Pool], peak_ps: int | None) -> Fragmentation | None:
    """None when no event tells. pools: in the order of time."""
    if not pools:
        return None
    before = 0 if peak_ps is None else bisect_right(pools, peak_ps, key=lambda pool: pool.ts_ps)
    worst = max(pools, key=lambda pool: pool.fragmentation)
    left = [pool.available_bytes for pool in pools if pool.available_bytes is not None]
    return Fragmentation(
        pools[before - 1].fragmentation if before else None,
        worst.fragmentation,
        worst.ts_ps,
        min(left, default=None),
    )


def rounded_up(blocks: Iterable[MemoryBlock]) -> int:
    """Bytes of blocks beyond what was asked for."""
    return sum(max(block.bytes - (block.requested_bytes or block.bytes), 0) for block in blocks)

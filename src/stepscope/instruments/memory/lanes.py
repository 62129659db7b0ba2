"""Lanes for drawing blocks of memory: a lane holds one block after another, and never two at once."""

import heapq
from collections.abc import Sequence

from stepscope.instruments.memory.blocks import MemoryBlock

Span = tuple[int, int]

MOST_LANES = 128
"""Most lanes of one allocator. When more are needed, the smallest blocks are not drawn."""


def pack(blocks: Sequence[MemoryBlock], most: int = MOST_LANES) -> list[int | None]:
    """The lane of each block, from 0: the lowest one that is free when the block is allocated. None: not
    drawn. When more than `most` blocks are held at once, the smallest are left out, as few as possible; among
    equal ones, those allocated last."""
    spans = [_span(block) for block in blocks]
    lanes: list[int | None] = [None] * len(blocks)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    used = 0
    for index in sorted(_largest(blocks, spans, most), key=lambda index: (spans[index], index)):
        born, freed = spans[index]
        while busy and busy[0][0] <= born:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            free.append(used)
            used += 1
        lane = heapq.heappop(free)
        lanes[index] = lane
        heapq.heappush(busy, (freed, lane))
    return lanes


def _span(block: MemoryBlock) -> Span:
    """When a block is held, as far as known. No block ends before it begins."""
    born = -_NEVER if block.born_ps is None else block.born_ps
    freed = _NEVER if block.freed_ps is None else block.freed_ps
    return born, freed if freed > born else born


_NEVER = 1 << 63


def _largest(blocks: Sequence[MemoryBlock], spans: Sequence[Span], most: int) -> Sequence[int]:
    """As many of the largest blocks as fit, so that no more than `most` are held at once."""
    if _most_at_once(spans) <= most:
        return range(len(blocks))  # usually all blocks fit
    order = sorted(range(len(blocks)), key=lambda index: (-blocks[index].bytes, index))
    low, high = 0, len(order) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if _most_at_once([spans[index] for index in order[:middle]]) <= most:
            low = middle
        else:
            high = middle - 1
    return order[:low]


def _most_at_once(spans: Sequence[Span]) -> int:
    """The most lanes in use at once. A block that ends when another begins leaves its lane to it."""
    moments: list[tuple[int, int, int, int]] = []
    for number, (born, freed) in enumerate(spans):
        if born == freed:  # in and out at once, one after the other
            moments += [(born, 1, number, 1), (born, 1, number, 2)]
        else:
            moments += [(born, 2, number, 1), (freed, 0, number, 2)]
    moments.sort()
    most = now = 0
    for *_, what in moments:
        now += 1 if what == 1 else -1
        if now > most:
            most = now
    return most

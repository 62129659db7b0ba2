"""Rows to draw blocks of memory on: in each row one block after the other, never two at once."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from stepscope.instruments.memory.blocks import Block

MOST_LANES = 128
"""Rows of one allocator. What needs more is drawn without its smallest blocks."""


def pack(blocks: Sequence[Block], most: int = MOST_LANES) -> list[int | None]:
    """The row of each block, from 0: the lowest that is free when it is born. None: not drawn.

    When more than `most` blocks are held at once, the smallest are left out, as few as must be; of equal
    ones those that are born last.
    """
    lanes: list[int | None] = [None] * len(blocks)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    used = 0
    for index in sorted(_largest(blocks, most), key=lambda index: (*_span(blocks[index]), index)):
        born, freed = _span(blocks[index])
        while busy and busy[0][0] <= born:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            free.append(used)
            used += 1
        lane = heapq.heappop(free)
        lanes[index] = lane
        heapq.heappush(busy, (freed, lane))
    return lanes


def _span(block: Block) -> tuple[int, int]:
    """From when to when it is held, as far as is known. Nothing is over before it began."""
    born = -_NEVER if block.born_ps is None else block.born_ps
    return born, max(born, _NEVER if block.freed_ps is None else block.freed_ps)


_NEVER = 1 << 63


def _largest(blocks: Sequence[Block], most: int) -> list[int]:
    """As many of the largest as never are more than `most` at once."""
    order = sorted(range(len(blocks)), key=lambda index: (-blocks[index].bytes, index))
    low, high = 0, len(order)
    while low < high:
        # All of them first: mostly they fit.
        middle = high if (low, high) == (0, len(order)) else (low + high + 1) // 2
        if _at_once([blocks[index] for index in order[:middle]]) <= most:
            low = middle
        else:
            high = middle - 1
    return order[:low]


def _at_once(blocks: Sequence[Block]) -> int:
    """The most rows that are taken at once. One that is gone when another is born has left its row to it."""
    moments: list[tuple[int, int, int, int]] = []
    for number, block in enumerate(blocks):
        born, freed = _span(block)
        if born == freed:  # in and out at once, one after the other
            moments += [(born, 1, number, 1), (born, 1, number, 2)]
        else:
            moments += [(born, 2, number, 1), (freed, 0, number, 2)]
    moments.sort()
    most = now = 0
    for *_, what in moments:
        now += 1 if what == 1 else -1
        most = max(most, now)
    return most

"""Sets of intervals: unions, what two of them share, how much lies inside another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The intervals joined where they touch, in order of time."""
    joined: list[Interval] = []
    for begin, end in sorted(intervals):
        if end <= begin:
            continue
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def length(intervals: Iterable[Interval]) -> int:
    """Their durations, added up."""
    return sum(end - begin for begin, end in intervals)


def shared(intervals: Iterable[Interval], within: Sequence[Interval]) -> int:
    """How much of the intervals lies in `within`, which is a union; intervals that overlap count each."""
    starts = [begin for begin, _ in within]
    total = 0
    for begin, end in intervals:
        i = max(bisect_right(starts, begin) - 1, 0)
        while i < len(within) and within[i][0] < end:
            total += max(0, min(end, within[i][1]) - max(begin, within[i][0]))
            i += 1
    return total

"""Sets of intervals: unions, intersections, and how much lies inside another set."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import itemgetter

Interval = tuple[int, int]
"""From and to, in picoseconds."""

_begin = itemgetter(0)


def union(intervals: Iterable[Interval], gap_ps: int = 0) -> list[Interval]:
    """The intervals, joined where they touch, in order of time. Gaps of up to gap_ps between them are
    closed."""
    joined: list[Interval] = []
    for begin, end in sorted(intervals):
        if end <= begin:
            continue
        if joined and begin <= joined[-1][1] + gap_ps:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def hull(intervals: Iterable[Interval]) -> Interval:
    """From the first begin to the last end; at least one interval."""
    begins, ends = zip(*intervals, strict=True)
    return min(begins), max(ends)


def length(intervals: Iterable[Interval]) -> int:
    """The sum of their durations."""
    return sum(end - begin for begin, end in intervals)


def shared(intervals: Iterable[Interval], within: Sequence[Interval]) -> int:
    """How much of the intervals lies in `within`, which is a union; overlapping intervals count
    separately."""
    total, number = 0, len(within)
    begins = [begin for begin, _ in within]
    for begin, end in intervals:
        i = max(bisect_right(begins, begin) - 1, 0)
        while i < number:
            first, last = within[i]
            if first >= end:
                break
            common = (end if end < last else last) - (begin if begin > first else first)
            if common > 0:
                total += common
            i += 1
    return total


def lengths(within: Sequence[Interval], intervals: Iterable[Interval]) -> list[int]:
    """How much of `within`, which is a union, lies in each interval."""
    begins = [begin for begin, _ in within]
    sums = [0, *accumulate(end - begin for begin, end in within)]

    def length_before(ts: int) -> int:
        """How much of a union lies before a moment."""
        at = bisect_right(begins, ts)
        return sums[at] - max(within[at - 1][1] - ts, 0) if at else 0

    return [max(length_before(end) - length_before(begin), 0) for begin, end in intervals]


def contained(moments: Iterable[int], within: Sequence[Interval]) -> list[bool]:
    """Whether each moment lies in `within`, a union of intervals without their ends."""
    begins = [begin for begin, _ in within]
    found = ((ts, bisect_right(begins, ts) - 1) for ts in moments)
    return [at >= 0 and ts < within[at][1] for ts, at in found]


def intersection(intervals: Iterable[Interval], window: Sequence[Interval]) -> list[Interval]:
    """The parts of the intervals inside `window`, which is a union."""
    found: list[Interval] = []
    for begin, end in intervals:
        i = max(bisect_right(window, begin, key=_begin) - 1, 0)
        while i < len(window) and window[i][0] < end:
            piece = max(begin, window[i][0]), min(end, window[i][1])
            if piece[0] < piece[1]:
                found.append(piece)
            i += 1
    return found


def difference(intervals: Iterable[Interval], holes: Sequence[Interval]) -> list[Interval]:
    """The parts of the intervals outside `holes`, which is a union."""
    found: list[Interval] = []
    for begin, end in intervals:
        at = begin
        i = max(bisect_right(holes, begin, key=_begin) - 1, 0)
        while i < len(holes) and holes[i][0] < end:
            if holes[i][0] > at:
                found.append((at, holes[i][0]))
            at = max(at, holes[i][1])
            i += 1
        if at < end:
            found.append((at, end))
    return found

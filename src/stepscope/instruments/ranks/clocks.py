"""Clocks of several sources on one axis, by the ends of collectives that end together.

A source's clock differs from the axis by an offset and a drift. The ends of what both took part in give one
difference each; a line through them, the median of the slopes between any two (Theil and Sen), is little
disturbed by ends that are late for a reason of their own. Nine of ten ends are within the residual of that
line: the error bar of a time.

Sources that share no collective with the axis are aligned through others that do; residuals add up then.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from stepscope.instruments.ranks.parts import Rank

ENOUGH = 8
"""Ends from which on a drift is looked for. Two ends fit any line exactly, which says nothing."""
_BINS = 64
"""Points that slopes are taken between: medians of neighbours where there are more ends."""
_MOST_DRIFT = 1e-3
"""No clock of a machine is so wrong: such a slope comes from ends that do not belong together."""
_MOST = 2**62


class End(NamedTuple):
    """The end of a collective by the clock of a source, in ps."""

    match: int
    source_id: int
    ps: int


class Clock(NamedTuple):
    """Where the clock of a source is on the axis."""

    aligned_by: str
    anchor_ps: int | None = None
    offset_ps: int | None = None
    drift: float = 0.0
    residual_ps: int | None = None
    most_residual_ps: int | None = None
    pairs: int = 0

    def on_axis(self, ps: int) -> int | None:
        """A time of this clock on the axis; None where that is unknown."""
        if self.offset_ps is None or self.anchor_ps is None:
            return None
        found = ps + self.offset_ps + round(self.drift * (ps - self.anchor_ps))
        return found if -_MOST < found < _MOST else None


class Aligned(NamedTuple):
    """The clocks of the sources of a run, by the number of the source."""

    axis: int
    clocks: Mapping[int, Clock]


def align(ends: Iterable[End], ranks: Mapping[int, Rank], sources: Sequence[int]) -> Aligned:
    """The clocks of sources, one of which is the axis: that with the most ends, the first rank of several.

    ends: of collectives that end together. sources: all of the run, at least one.
    """
    by_match: dict[int, dict[int, int]] = defaultdict(dict)
    for end in ends:
        # Several devices of a source have one clock; the last of them ends with the others.
        source_ends = by_match[end.match]
        source_ends[end.source_id] = max(end.ps, source_ends.get(end.source_id, end.ps))
    shared = [source_ends for source_ends in by_match.values() if len(source_ends) > 1]
    count: dict[int, int] = defaultdict(int)
    for source_ends in shared:
        for source in source_ends:
            count[source] += 1
    axis = min(sources, key=lambda source: (-count[source], *_place(ranks[source])))
    clocks = {axis: Clock("axis", 0, 0, 0.0, 0, 0, count[axis])}
    while found := _next(shared, clocks):
        clocks |= found
        shared = [source_ends for source_ends in shared if not source_ends.keys() <= clocks.keys()]
    for source in sources:
        if source not in clocks:
            clocks[source] = _time_of_day_clock(ranks[source], ranks[axis])
    return Aligned(axis, clocks)


def _place(rank: Rank) -> tuple[object, ...]:
    return rank.rank is None, rank.rank or 0, rank.path


def _next(shared: Sequence[Mapping[int, int]], clocks: Mapping[int, Clock]) -> dict[int, Clock]:
    """Clocks of sources that share collectives with those whose clocks are known; those with the most, where
    none shares enough. Empty when there is none."""
    pairs: dict[int, list[tuple[int, int]]] = defaultdict(list)
    before: dict[int, int | None] = {}
    for ends in shared:
        known = [source for source in ends if source in clocks]
        if not known:
            continue
        at = [ps for source in known if (ps := clocks[source].on_axis(ends[source])) is not None]
        if not at:
            continue
        middle = round_median(at)
        errors = [clocks[source].residual_ps for source in known]
        for source, ps in ends.items():
            if source not in clocks:
                pairs[source].append((ps, middle - ps))
                before[source] = _most([before.get(source, 0), *errors])
    if not pairs:
        return {}
    least = min(max(map(len, pairs.values())), ENOUGH)
    return {
        source: _fitted(known_pairs, before[source])
        for source, known_pairs in pairs.items()
        if len(known_pairs) >= least
    }


def _most(errors: Iterable[int | None]) -> int | None:
    """The largest error; None if one of them is unknown."""
    known = list(errors)
    return None if None in known else max(error for error in known if error is not None)


def _fitted(pairs: Sequence[tuple[int, int]], before: int | None) -> Clock:
    """The clock that fits the differences of ends, each with the time at which it was observed. before: the
    residual of the clocks that they were compared with."""
    points = sorted(pairs)
    anchor = points[len(points) // 2][0]
    slope = _slope(points) if len(points) >= ENOUGH else 0.0
    if abs(slope) > _MOST_DRIFT:
        slope = 0.0
    # Rest by rest as whole numbers: a double has too few digits for picoseconds of a day.
    flat = [difference - round(slope * (ps - anchor)) for ps, difference in points]
    offset = round_median(flat)
    if abs(offset) >= _MOST:
        return Clock("unknown")
    rests = sorted(abs(difference - offset) for difference in flat)
    if len(points) == 1 or before is None:
        return Clock("ends", anchor, offset, slope, None, None, len(points))
    usual = rests[-1] if len(rests) < ENOUGH else rests[-(-len(rests) * 9 // 10) - 1]
    return Clock(
        "ends", anchor, offset, slope, min(usual + before, _MOST), min(rests[-1] + before, _MOST), len(points)
    )


def _slope(points: Sequence[tuple[int, int]]) -> float:
    """The median of the slopes between any two points, which are in the order of time."""
    if len(points) > _BINS:
        cuts = [len(points) * number // _BINS for number in range(_BINS + 1)]
        bins = [points[a:b] for a, b in pairwise(cuts)]
        points = [
            (round_median([ps for ps, _ in pairs_of_bin]), round_median([rest for _, rest in pairs_of_bin]))
            for pairs_of_bin in bins
        ]
    slopes = [
        (late[1] - early[1]) / (late[0] - early[0])
        for number, early in enumerate(points)
        for late in points[number + 1 :]
        if late[0] > early[0]
    ]
    return median(slopes) if slopes else 0.0


def round_median(numbers: Sequence[int]) -> int:
    """The median as a whole number: the mean of two in the middle is rounded down."""
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2


def _time_of_day_clock(rank: Rank, axis: Rank) -> Clock:
    """A clock by the time of day, whose error is unknown."""
    if rank.origin_unix_ns is None or axis.origin_unix_ns is None:
        return Clock("unknown")
    offset = (rank.origin_unix_ns - axis.origin_unix_ns) * 1000
    return Clock("time_of_day", 0, offset) if abs(offset) < _MOST else Clock("unknown")

"""The stretch of a recording in which something happens, where it delimits no steps.

Slices that are open when a file is closed end then, which may be days later: Horovod's timelines that are
rotated, durations that a recorder counted in another unit or that wrapped. Shares of such a time say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

HOUR_PS = 3600 * 10**12
MOST = 0.9
"""A longer part of the recording, of more than an hour, is none of it where nothing begins in it: an op takes
no hours."""
FEW_SLICES = 10
"""Fewer say nothing about when something begins."""


class Stretch(NamedTuple):
    """A part of a recording."""

    start_ps: int
    end_ps: int


def may_reach_beyond(whole: Stretch) -> bool:
    """Whether a recording is so long that its end is worth a look."""
    return whole.end_ps - whole.start_ps > HOUR_PS


def before_the_end(whole: Stretch, slices: Sequence[tuple[int, int]]) -> Stretch:
    """The recording without what follows when nothing begins any more. slices: begin and end of each."""
    last = max((begin for begin, _ in slices), default=whole.start_ps)
    silent_ps = whole.end_ps - last
    if len(slices) < FEW_SLICES or silent_ps <= max(HOUR_PS, MOST * (whole.end_ps - whole.start_ps)):
        return whole
    end = max((end for _, end in slices if end - last < (1 - MOST) * silent_ps), default=last)
    end = max(end, last)
    return Stretch(whole.start_ps, end) if end > whole.start_ps else whole

"""The stretch of a recording in which something happens, where it delimits no steps.

Slices that are open when a file is closed end then, which may be days later: Horovod's timelines that are
rotated, durations that a recorder counted in another unit or that wrapped. A slice whose time was never set
lies at 0, days before the others of a clock that counts from the start of the machine. Shares of such a time
say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from stepscope.instruments.session_steps import MOST_MERGED

if TYPE_CHECKING:
    from stepscope._core import Store

HOUR_PS = 3600 * 10**12
MOST = 0.9
"""A longer part of the recording, of more than an hour, is none of it where nothing begins in it: an op takes
no hours."""
FEW_SLICES = 10
"""Fewer say nothing about when something begins."""
STRAYS = 10
"""Slices on one side of such a part are strays where the other side has this many times more."""


class RecordedStretch(NamedTuple):
    """A part of a recording."""

    start_ps: int
    end_ps: int


def recorded_stretch(store: Store, whole: RecordedStretch) -> tuple[RecordedStretch, bool]:
    """A recording without spans of requests, which belong to no thread and may have a clock of their own, and
    as far as something begins in it; and whether all these spans lie elsewhere."""
    tracks = store.rows("track") if "track" in store.tables() else []
    of_requests = {row["id"] for row in tracks if row["kind"] == "async" and row["records"] == "annotation"}
    if not of_requests and whole.end_ps - whole.start_ps <= HOUR_PS:
        return whole, False
    extents = store.extents()
    others = [extent for track_id, extent in extents.items() if track_id not in of_requests]
    if not others:
        return whole, False
    start_ps, end_ps = min(first for _, first, _, _ in others), max(end for *_, end in others)
    requests = [extent for track_id, extent in extents.items() if track_id in of_requests]
    elsewhere = bool(requests) and all(end <= start_ps or first >= end_ps for _, first, _, end in requests)
    slices, last_ps = sum(number for number, *_ in others), max(last for _, _, last, _ in others)
    silent_ps = end_ps - last_ps
    if slices >= FEW_SLICES and silent_ps > max(HOUR_PS, MOST * (end_ps - start_ps)):
        closed = store.extents(round(last_ps + (1 - MOST) * silent_ps))
        ends = [end for track_id, (*_, end) in closed.items() if track_id not in of_requests]
        end_ps = max([*ends, last_ps])
    if slices <= MOST_MERGED and end_ps - start_ps > HOUR_PS:
        rows = [row for row in store.rows("slice") if row["track_id"] not in of_requests]
        start_ps, end_ps = _main_stretch(sorted((row["ts_ps"], row["dur_ps"]) for row in rows), end_ps)
    return (RecordedStretch(start_ps, end_ps) if end_ps > start_ps else whole), elsewhere


def _main_stretch(slices: Sequence[tuple[int, int]], end_ps: int) -> RecordedStretch:
    """The stretch of slices, by begin and duration, without the few that lie far from all others."""
    start_ps = reached_ps = slices[0][0]
    for number, ((ts_ps, dur_ps), (next_ps, _)) in enumerate(pairwise(slices), 1):
        reached_ps, others = max(reached_ps, ts_ps + dur_ps), len(slices) - number
        if next_ps - reached_ps <= max(HOUR_PS, MOST * (end_ps - start_ps)):
            continue
        if others >= STRAYS * number:
            return RecordedStretch(next_ps, end_ps)
        if number >= STRAYS * others:
            return RecordedStretch(start_ps, reached_ps)
    return RecordedStretch(start_ps, end_ps)


def is_part_of_step(recorded_steps: Sequence[tuple[int, int, int, bool]], start_ps: int, end_ps: int) -> bool:
    """Whether a recording is shorter than each step that its recorder saw, so that calls in it are a part of
    one: the program ended in the first that was traced. recorded_steps: as for `steps.recover`."""
    shortest_ns = min((end - begin for _, begin, end, _ in recorded_steps), default=0)
    return shortest_ns * 1000 > end_ps - start_ps

"""The stretch of a recording in which something happens, where it delimits no steps.

Slices that are open when a file is closed end then, which may be days later: Horovod's timelines that are
rotated, durations that a recorder counted in another unit or that wrapped. Shares of such a time say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stepscope._core import Store

HOUR_PS = 3600 * 10**12
MOST = 0.9
"""A longer part of the recording, of more than an hour, is none of it where nothing begins in it: an op takes
no hours."""
FEW_SLICES = 10
"""Fewer say nothing about when something begins."""


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
    spans: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for row in store.rows("slice"):
        spans[row["track_id"] in of_requests].append((row["ts_ps"], row["ts_ps"] + row["dur_ps"]))
    if not spans[False]:
        return whole, False
    inner = RecordedStretch(min(begin for begin, _ in spans[False]), max(end for _, end in spans[False]))
    elsewhere = bool(spans[True]) and all(
        end <= inner.start_ps or begin >= inner.end_ps for begin, end in spans[True]
    )
    if inner.start_ps == inner.end_ps:
        return whole, elsewhere
    return cut_at_silence(inner, spans[False]), elsewhere


def cut_at_silence(whole: RecordedStretch, slices: Sequence[tuple[int, int]]) -> RecordedStretch:
    """The recording without what follows when nothing begins any more. slices: begin and end of each."""
    last = max((begin for begin, _ in slices), default=whole.start_ps)
    silent_ps = whole.end_ps - last
    if len(slices) < FEW_SLICES or silent_ps <= max(HOUR_PS, MOST * (whole.end_ps - whole.start_ps)):
        return whole
    end = max((end for _, end in slices if end - last < (1 - MOST) * silent_ps), default=last)
    end = max(end, last)
    return RecordedStretch(whole.start_ps, end) if end > whole.start_ps else whole

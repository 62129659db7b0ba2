"""Marks of ours in a Chrome trace, for reading it back: origin, steps, and devices of the rows.

stepscopeOriginMicroseconds is the moment in the file from which its recordings counted: reading it back
counts from there, so that what lay before its zero does so again. The rest is in members of the file's
outer object, which other programs pass over: stepscopeSteps0, stepscopeSteps1, … and stepscopeDevices0, …,
each of them below the size up to which readers keep such members. Each text is there once, in `words`, and
rows name them by number.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.exporters.clocks import Layout
    from stepscope.exporters.track_ids import TrackIds
    from stepscope.session.trace import OpenTrace

ORIGIN = "stepscopeOriginMicroseconds"
"""The reader of Chrome traces knows it by the same name."""
MEMBER_BYTES = 60_000
MOST_MEMBERS = 64
"""Most members of a kind; steps beyond them are left out, with a remark."""


def members(trace: OpenTrace, layout: Layout, track_ids: TrackIds) -> tuple[dict[str, Any], list[str]]:
    """The members to write, and remarks about what is left out."""
    steps, notes = _steps(trace, layout)
    marks: dict[str, Any] = {ORIGIN: layout.origin_us}
    for name, rows, form in (
        ("Steps", steps, _indexed),
        ("Devices", _devices(trace, layout, track_ids), list),
    ):
        pieces = list(_pieces(rows, form))
        if len(pieces) > MOST_MEMBERS:
            notes.append(f"The {name.lower()} are too many to be written: reading the file finds its own.")
            continue
        marks.update({f"stepscope{name}{number}": piece for number, piece in enumerate(pieces)})
    return marks, notes


def _pieces(rows: Sequence[Any], form: Callable[[Sequence[Any]], Any]) -> list[Any]:
    """The rows in as many members as they need. A row too long for one is left out."""
    if not rows:
        return []
    member = form(rows)
    if len(json.dumps(member, separators=(",", ":"))) <= MEMBER_BYTES:
        return [member]
    half = len(rows) // 2
    return [*_pieces(rows[:half], form), *_pieces(rows[half:], form)] if half else []


def _indexed(rows: Sequence[Any]) -> dict[str, Any]:
    words: dict[str, int] = {}
    numbered = [
        [words.setdefault(cell, len(words)) if isinstance(cell, str) else cell for cell in row]
        for row in rows
    ]
    return {"words": list(words), "rows": numbered}


def _steps(trace: OpenTrace, layout: Layout) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Steps on the time line of the file: name, kind, recovered_from, reason (texts), number, begin,
    duration, averaged. Empty without steps, or where steps overlap, as those of several hosts do."""
    shifts = {place.source_id: place.shift_ps for place in layout.places}
    rows = trace.query(statement("recorded_steps")).rows()
    steps = sorted(
        (
            (*texts, number, ts_ps + shifts[source], dur_ps, averaged)
            for source, *texts, number, ts_ps, dur_ps, averaged in rows
            if source in shifts
        ),
        key=lambda step: step[5],
    )
    for before, after in itertools.pairwise(steps):
        if before[5] + before[6] > after[5]:
            return [], [
                "Steps of different recordings overlap in time, so they are not written into the file:"
                " reading it finds what its rows say."
            ]
    return steps, []


def _devices(trace: OpenTrace, layout: Layout, track_ids: TrackIds) -> list[dict[str, Any]]:
    """Devices with the numbers of their rows, as ranges from first to last."""
    rows = trace.query(f"""
WITH {track_ids.ctes()}
SELECT device.run_id, device.host_id, device.name, device.kind, device.args_json,
  spot.pid, spot.tid, spot.thread
FROM named
JOIN place ON place.source_id = named.source_id
JOIN spot ON spot.position = named.id + place.position_shift
JOIN device ON device.id = named.device_id
ORDER BY spot.position
""").rows()
    runs = len({place.run_id for place in layout.places}) > 1
    hosts = len({(place.run_id, place.host_id) for place in layout.places}) > 1
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for run, host, name, kind, args, pid, tid, thread in rows:
        where = f"{run}/{host}: " if runs else f"{host}: " if hosts else ""
        fresh = {"name": where + name, "kind": kind, "args": args, "tids": [], "pids": []}
        device = found.setdefault((where + name, kind), fresh)
        stretches, number = (device["tids"], tid) if thread else (device["pids"], pid)
        if stretches and number - 1 <= stretches[-1][1] <= number:
            stretches[-1][1] = number
        else:
            stretches.append([number, number])
    return list(found.values())

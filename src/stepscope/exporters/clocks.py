"""Clocks of a merged file: the place of each source on its one time line.

Captures with a Unix time are placed by it, and ranks of a job by the ends of their collectives, as on the
page (_source_shift.sql). The begin of other sources is unknown, so they follow one another after all known
ones, and a note says so.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from stepscope import units
from stepscope.exporters import crossings
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.exporters.source_events import SourceEvents
    from stepscope.session.trace import OpenTrace

_LONG_PS = 100 * 86_400 * 10**12
"""Picoseconds in an int64 cover 106 days; files with a longer span are hard on every reader, ours
included."""

_US_PS = 1_000_000

_ENDINGS = re.compile(r"(\.(json|pb|pbtxt|xplane|trace|pt|zip|tar|tgz|gz|bz2|xz))+$")


@dataclass(frozen=True)
class SourcePlace:
    """A source in the merged file: shift_ps is added to its ts_ps; label distinguishes it from others."""

    source_id: int
    run_id: str
    host_id: str
    path: str
    format: str
    label: str
    known: bool
    shift_ps: int
    start_ps: int
    end_ps: int
    placed_by: str
    """collectives, time_of_day, begin (of the ranks beside it) or order (after the others)."""
    residual_ps: int | None = None
    """Placed by collectives: nine of ten ends are this close."""


@dataclass(frozen=True)
class Layout:
    """All places in order of time. base_unix_ns: Unix time of 0; None when no capture knows it. origin_us:
    common part of all shifts, because something begins before the zero of its recording."""

    places: tuple[SourcePlace, ...]
    base_unix_ns: int | None
    origin_us: int
    notes: tuple[str, ...]


def lay_out(
    trace: OpenTrace, events: Iterable[SourceEvents], more: Mapping[int, tuple[int, int]] | None = None
) -> Layout:
    """Places the sources of a trace that contain events. more: first and last moment of further contents of a
    source."""
    spans = _spans(events, more or {})
    rows = [row[:5] for row in trace.query(statement("sources")).rows() if row[0] in spans]
    shifts, base = _shifts_by_time_of_day(trace, [row[0] for row in rows], spans)
    if len(rows) > 1 and (aligned := trace.query(statement("aligned_sources")).rows()):
        shifts = {
            source: _Shift(shift, placed_by, bool(known), residual)
            for source, known, shift, placed_by, residual in aligned
            if source in spans
        }
        base = base if any(shifts[row[0]].known for row in rows) else None
    low = min((spans[source][0] + shift.ps for source, shift in shifts.items()), default=0)
    origin_us = max(0, -(low // _US_PS))  # Perfetto omits events before 0
    base = None if base is None else base - origin_us * 1000
    places = []
    for (source, run, host, path, form), label in zip(rows, distinguish([r[3] for r in rows]), strict=True):
        at = shifts[source]
        shift_ps = at.ps + origin_us * _US_PS
        where = (at.known, shift_ps, *spans[source], at.placed_by, at.residual_ps)
        places.append(SourcePlace(source, run, host, path, form, label, *where))
    places.sort(key=lambda place: (not place.known, place.start_ps + place.shift_ps))
    return Layout(tuple(places), base, origin_us, (*_notes(places), *_crossings(trace)))


class _Shift(NamedTuple):
    """What to add to the times of a source."""

    ps: int
    placed_by: str
    known: bool = True
    """A fact tells when it began."""
    residual_ps: int | None = None


def _spans(events: Iterable[SourceEvents], more: Mapping[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """First and last moment of the contents of each source."""
    spans: dict[int, tuple[int, int]] = {}
    seen = [(part.source_id, (part.start_ps, part.end_ps)) for part in events]
    for source, (first, last) in (*seen, *more.items()):
        start, end = spans.get(source, (first, last))
        spans[source] = (min(start, first), max(end, last))
    return spans


def _shifts_by_time_of_day(
    trace: OpenTrace, sources: Sequence[int], spans: Mapping[int, tuple[int, int]]
) -> tuple[dict[int, _Shift], int | None]:
    """Places sources with a Unix time, and all others after them; and the Unix time of 0 in nanoseconds,
    where known."""
    known_sources = set(sources)
    clocks = trace.query(statement("source_clocks")).rows()
    origins = {
        source: begin for source, _, _, begin, _ in clocks if begin is not None and source in known_sources
    }
    base = min(origins.values(), default=None)
    shifts = {
        source: _Shift((begin - base) * 1000, "time_of_day")
        for source, begin in origins.items()
        if base is not None
    }
    end = max((spans[source][1] + shift.ps for source, shift in shifts.items()), default=None)
    for source in sources:
        if source not in shifts:
            ps = 0 if end is None else end - spans[source][0]
            shifts[source] = _Shift(ps, "order", known=False)
            end = spans[source][1] + ps
    return shifts, base


def _notes(places: Sequence[SourcePlace]) -> list[str]:
    notes = []
    together = [place for place in places if place.placed_by == "collectives"]
    if together:
        error = max(place.residual_ps or 0 for place in together)
        notes.append(
            f"{len(together)} of {len(places)} recordings lie on one axis by the ends of their collectives:"
            f" nine of ten are at most {units.show(error, 'ps')} apart."
        )
    if beside := [place for place in places if place.placed_by == "begin"]:
        notes.append(
            f"{len(beside)} of {len(places)} recordings are ranks of a run and begin together; nothing in"
            " them aligns their clocks. Compare times within each, not between them."
        )
    loose = [place for place in places if place.placed_by == "order"]
    if loose and len(places) > 1:
        notes.append(_loose_note(loose, len(places)))
    if far := _days_apart(places):
        notes.append(far)
    return notes


def _loose_note(loose: Sequence[SourcePlace], places: int) -> str:
    where = ", ".join(
        f"{place.label} at {(place.start_ps + place.shift_ps) / 1e12:.6g} s" for place in loose[:5]
    )
    more = f" and {len(loose) - 5} more" if len(loose) > 5 else ""
    return (
        f"{len(loose)} of {places} recordings do not contain the time of day, so they could not be"
        f" aligned: they follow one another ({where}{more}). Compare times within each, not between them."
    )


def _days_apart(places: Sequence[SourcePlace]) -> str:
    if not places:
        return ""
    start = min(place.start_ps + place.shift_ps for place in places)
    end = max(place.end_ps + place.shift_ps for place in places)
    if end - start > _LONG_PS:
        return (
            f"The recordings lie {(end - start) / 86_400e12:.0f} days apart. Viewers round times on such"
            " a scale; export them one by one to look at details."
        )
    return ""


def _crossings(trace: OpenTrace) -> list[str]:
    count = crossings.count(trace)
    if not count:
        return []
    return [
        f"{units.count(count, 'slice')} {units.agree(count, 'begins', 'begin')} within another of "
        f"{units.agree(count, 'its', 'their')} row and {units.agree(count, 'ends', 'end')} after it. "
        f"chrome://tracing shows {units.agree(count, 'it', 'them')}; Perfetto leaves "
        f"{units.agree(count, 'it', 'them')} out."
    ]


def distinguish(paths: list[str]) -> list[str]:
    """Short labels that differ where the paths do: the paths without common prefixes and suffixes."""
    if len(paths) == 1:
        return [posixpath.basename(paths[0].rstrip("/")) or paths[0]]
    parts = [path.replace("!", "/").strip("/").split("/") for path in paths]
    shortest = min((len(part) for part in parts), default=0)
    head = _alike(parts, shortest - 1)
    tail = _alike([part[::-1] for part in parts], shortest - 1 - head)
    labels = ["/".join(part[head : len(part) - tail]) for part in parts]
    stems = [_ENDINGS.sub("", label) for label in labels]
    if len(set(stems)) == len(set(labels)) and all(stems):
        labels = stems
    return _numbered(labels)


def _alike(paths: Sequence[Sequence[str]], most: int) -> int:
    """The number of leading folders that all paths share."""
    count = 0
    while count < most and len({path[count] for path in paths}) == 1:
        count += 1
    return count


def _numbered(labels: Sequence[str]) -> list[str]:
    """The labels, numbered where one occurs several times."""
    count = Counter(labels)
    seen: Counter[str] = Counter()
    unique = []
    for label in labels:
        seen[label] += 1
        unique.append(label if count[label] == 1 else f"{label} #{seen[label]}")
    return unique

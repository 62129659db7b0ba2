"""The files of a capture while they are read: their lines, the capture's clock, the rows that they give, and
what was seen, lost and odd in them."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stepscope import strict_json, units
from stepscope.formats import Unreadable
from stepscope.formats._fields import whole
from stepscope.store_rows import note

Row = dict[str, Any]
Piece = Callable[[], bytes]
"""Reads a file; Unreadable when it cannot be had."""

_NS = 1000
"""Picoseconds in a nanosecond."""
_FITS = 2**63 - 1


class CaptureFiles:
    """capture.json as `record`, and the files beside it by name. A file that is missing or damaged costs its
    own rows, and is noted."""

    def __init__(self, text: bytes, record: Mapping[str, Any], pieces: Mapping[str, Piece]) -> None:
        self.record = record
        self.tables: dict[str, list[Row]] = {}
        self.data: dict[str, bytes] = {}
        self.seen = self.stored = 0
        """Events: lines, models, stages and steps."""
        self._notes: dict[str, Row] = {}
        self._origin_ns = whole(record, "started_unix_ns")
        self._first_ps: int | None = None
        self._last_ps: int | None = None
        digest = hashlib.blake2b(text, digest_size=16)
        for name, piece in sorted(pieces.items()):
            try:
                self.data[name] = piece()
            except Unreadable as error:
                self.damaged(f"{name}: {error}")
                continue
            digest.update(name.encode() + b"\0" + self.data[name])
        self._hash = digest.hexdigest()

    def time(self, unix_ns: int | None) -> int | None:
        """Picoseconds from the start of the capture; None where they do not fit."""
        if unix_ns is None or self._origin_ns is None or abs(unix_ns - self._origin_ns) * _NS > _FITS:
            return None
        at = (unix_ns - self._origin_ns) * _NS
        self._first_ps = at if self._first_ps is None else min(self._first_ps, at)
        self._last_ps = at if self._last_ps is None else max(self._last_ps, at)
        return at

    def lines(self, name: str) -> Iterator[Mapping[str, Any]]:
        """The lines of a file; what is not a JSON object is lost."""
        good = 0
        for line in json_lines(self.data.get(name, b"")):
            good += 1
            yield line
        number = number_of_lines(self.data.get(name, b""))
        self.seen += number
        self.stored += good
        if bad := number - good:
            lines = f"{bad:,} of {units.count(number, 'line')} {units.agree(bad, 'is', 'are')} not JSON"
            self.damaged(f"{name}: {lines}")

    def listed(self, key: str) -> list[Mapping[str, Any]]:
        """The objects of a list in capture.json."""
        value = self.record.get(key)
        return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []

    def add(self, table: str, rows: list[Row]) -> None:
        """Gives a table its rows, with ids."""
        self.tables[table] = [{"id": number, **row} for number, row in enumerate(rows)]

    def unused(self, name: str, odd: int) -> None:
        """Lines of a file that are JSON and could not be used all the same."""
        self.stored -= odd
        if odd:
            self.damaged(f"{name}: {odd:,} of its lines could not be used")

    def damaged(self, detail: str, events: int = 1) -> None:
        """Notes what was lost."""
        self.note("damaged-piece", "lost", detail, events)

    def note(self, slug: str, effect: str, detail: str, events: int = 1) -> None:
        """Notes something; what is noted again under the same slug is only counted."""
        self._notes.setdefault(slug, note(slug, effect, detail))["events"] += events

    def facts(self) -> Row:
        """What the store says of its source."""
        start = end = None
        if self._origin_ns is not None:
            ended_ns = whole(self.record, "ended_unix_ns") or self._origin_ns
            end = min(max(ended_ns - self._origin_ns, 0) * _NS, _FITS)
            end = max(end, self._last_ps or 0)
            start = min(0, self._first_ps or 0)
        meta = {key: self.record.get(key) for key in ("cores", "memory_bytes", "host")}
        return {
            "producer": "stepscope",
            "content_hash": self._hash,
            "origin_unix_ns": self._origin_ns,
            "start_ps": start,
            "end_ps": end,
            "events_seen": self.seen,
            "events_stored": self.stored,
            "events_lost": self.seen - self.stored,
            "notes": list(self._notes.values()),
            "meta": {key: str(value) for key, value in meta.items() if value is not None},
        }


def json_lines(data: bytes) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of an .ndjson file, and no other line."""
    for line in data.split(b"\n"):
        try:
            found = strict_json.parse(line, lenient=True) if line.strip() else None
        except strict_json.OddJson:
            continue  # counted where the number of lines is wanted
        if isinstance(found, dict):
            yield found


def number_of_lines(data: bytes) -> int:
    """The lines of an .ndjson file that are not empty."""
    return sum(1 for line in data.split(b"\n") if line.strip())

"""Rows that no decoder writes: what run, host, capture and source a store belongs to, and its notes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.escapes import printable
from stepscope.sources import names
from stepscope.sources.source import Source
from stepscope.store_rows import LACKS

_NOT_A_LOSS = frozenset({"no-steps", "clock-unaligned", "unfinished-capture"})
"""Notes about things that a recording never had: its events are complete."""


class SourceRow(NamedTuple):
    """A row of the table source, column by column."""

    source_id: int
    run_id: str
    host_id: str
    path: str
    format: str
    producer: str
    kind: str
    framework: str | None
    of_session: bool
    bytes: int
    content_hash: str
    decoder_version: int
    events_seen: int
    events_stored: int
    events_lost: int
    events_repaired: int
    events_capped: int
    complete: bool
    error: str | None


def placed(source: Source, facts: Mapping[str, Any]) -> Source:
    """The source on the host that its bytes name, where its path names none."""
    host_name = facts.get("meta", {}).get("host")
    if source.host_id != "unknown":
        return source
    if not host_name:
        rank, ranks = ranks_of(source, facts)
        if rank is None or (rank == 0 and (ranks or 1) < 2):
            return source  # the only known process of its job
        host_name = f"rank-{rank}"
    return source._replace(host_name=str(host_name), host_id=names.slug(str(host_name), "host"))


_MOST_RANKS = 2**31


def ranks_of(source: Source, facts: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The number of the process in its job and how many there are, from PyTorch's recordings; else the number
    in the name of the file. None without either, or where they are impossible."""
    rank_info: dict[str, Any] = strict_json.members(facts.get("meta", {}).get("distributedInfo"))
    rank, ranks = (
        number if type(number := rank_info.get(key)) is int and 0 <= number < _MOST_RANKS else None
        for key in ("rank", "world_size")
    )
    if rank is not None and ranks is not None and rank >= ranks:
        rank = ranks = None
    return (source.rank if rank is None else rank), ranks or None


def source_row(source: Source, source_id: int, facts: Mapping[str, Any], error: str | None) -> SourceRow:
    """The row of a source. facts: from the native core; may be empty for an unreadable source."""
    return SourceRow(
        source_id=source_id,
        run_id=source.run_id,
        host_id=source.host_id,
        path=printable(source.path),
        format=source.format,
        producer=facts.get("producer") or "unknown",
        kind=source.traits.kind,
        framework=facts.get("framework"),
        of_session=facts.get("of_session", False),
        bytes=source.size,
        content_hash=facts.get("content_hash", ""),
        decoder_version=facts.get("decoder_version", 0),
        events_seen=facts.get("events_seen", 0),
        events_stored=facts.get("events_stored", 0),
        events_lost=facts.get("events_lost", 0),
        events_repaired=facts.get("events_repaired", 0),
        events_capped=facts.get("events_capped", 0),
        complete=error is None and _complete(facts),
        error=error,
    )


def _complete(facts: Mapping[str, Any]) -> bool:
    return not (facts.get("events_lost") or facts.get("events_capped")) and not any(
        note["effect"] in LACKS and note["slug"] not in _NOT_A_LOSS for note in facts.get("notes", ())
    )


def small_tables(
    source: Source, source_id: int, facts: Mapping[str, Any], error: str | None
) -> dict[str, list[tuple[Any, ...]]]:
    """Rows of run, host, capture, source and source_note for one source, in the schema's columns."""
    run_id, host_id = source.run_id, source.host_id
    run_path = source.run_path or source.path.split("!", 1)[0]
    tables: dict[str, list[tuple[Any, ...]]] = {
        "run": [(run_id, printable(source.run_name), printable(run_path))],
        "host": [(host_id, run_id, printable(source.host_name))],
        "source": [source_row(source, source_id, facts, error)],
        "source_note": [
            (source_id, run_id, host_id, slug, "info", 0, None, printable(detail))
            for slug, detail in source.notes
        ],
    }
    tables["source_note"] += [
        (
            source_id,
            run_id,
            host_id,
            note["slug"],
            note["effect"],
            note["events"],
            note.get("first_offset"),
            printable(note["detail"]),
        )
        for note in facts.get("notes", ())
    ]
    start, end = facts.get("start_ps"), facts.get("end_ps")
    if error is None and start is not None and end is not None:
        origin = facts.get("origin_unix_ns")
        clock = "relative" if origin is None else "unix"
        producer = facts.get("producer") or "unknown"
        dur_ps = min(end - start, 2**63 - 1)
        capture_row = (source_id, run_id, host_id, source_id, producer, origin, clock, dur_ps)
        tables["capture"] = [(*capture_row, *ranks_of(source, facts))]
    return tables


def distinct(name: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows of run and host, once each for any number of sources; other tables unchanged."""
    if name not in ("run", "host"):
        return rows
    keys = 1 if name == "run" else 2
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in sorted(rows):
        found.setdefault(row[:keys], row)
    return list(found.values())

"""The events of each source: how many of each kind, with which numbers and when. An export asks this once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from stepscope import units
from stepscope.errors import OutputError
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace


class SourceEvents(NamedTuple):
    """The rows of a source in one of the tables of events, as events_of_sources.sql describes them."""

    table: str
    source_id: int
    rows: int
    off_track: int
    first_id: int
    last_id: int
    start_ps: int
    end_ps: int


def events_by_source(trace: OpenTrace) -> list[SourceEvents]:
    """Queries all four tables. OutputError when some rows lie on no track, because they would be lost
    silently."""
    found = [SourceEvents(*row) for row in trace.query(statement("events_of_sources")).rows()]
    for events in found:
        if events.off_track:
            raise OutputError(
                "The tables are damaged.",
                seen=f"{events.off_track:,} of {units.count(events.rows, 'row')} of {events.table} "
                f"{units.agree(events.off_track, 'lies', 'lie')} on no track",
                todo="read the recording again with --no-cache, or ingest it again; please report this",
                slug="damaged-tables",
            )
    return found


def rows_by_table(events: Iterable[SourceEvents]) -> dict[str, int]:
    """Rows of slice, instant, counter and flow."""
    rows = dict.fromkeys(("slice", "instant", "counter", "flow"), 0)
    for part in events:
        rows[part.table] += part.rows
    return rows

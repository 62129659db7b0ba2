"""The place of each row in a file of several sources: numbers of processes and threads, unique in the file.

A join would find the track of a row as well, but the engine's join does not keep the order of rows, and
sorting them costs a copy of the file. So the tracks become one list, and a row finds its own by position: ids
of tracks count up by one within a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stepscope.exporters.numbering import follow_on, shift_sql
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace


# origin is 'pid P async CATEGORY id ID' or 'pid P counter NAME id ID'. The name of the track is the category
# (the id where there is none), or the counter's name.
_OWN_ID = """CASE
      WHEN track.kind NOT IN ('counter', 'async') THEN NULL
      WHEN strpos(' ' || track.origin, concat(' ', track.kind, ' ', track.name, ' id ')) > 0
      THEN substr(track.origin, strpos(' ' || track.origin, concat(' ', track.kind, ' ', track.name, ' id '))
        + length(track.kind) + length(track.name) + 5)
      WHEN track.kind = 'async' AND suffix(track.origin, ' id ' || track.name) THEN track.name
    END"""


class TrackIds:
    """SQL that gives every row of a table its `spot`, a struct.

    Its fields: pid and tid (numbers from 1, no number is both), kind, records, process, name, sort_index of
    the track, own_id (which the file gave the sequence or counter), thread (it is a row of its own),
    ordinal (0, 1, ... in the order in which the caller tells the sources) and the columns that the caller
    says of each source, as SQL literals.
    """

    def __init__(self, trace: OpenTrace, sources: Mapping[int, Mapping[str, str]]) -> None:
        self._sources = sources
        rows = trace.query(statement("track_numbers")).rows()
        self._shifts, self._end = follow_on(row for row in rows if row[0] in sources)

    def ctes(self) -> str:
        """Common table expressions: place (sources), process, spot (tracks) and track_ids (one row)."""
        names = list(next(iter(self._sources.values())))
        values = ", ".join(
            f"({source_id}::BIGINT, {ordinal}, {self._shifts.get(source_id, 0)}::BIGINT, "
            + ", ".join(columns[name] for name in names)
            + ")"
            for ordinal, (source_id, columns) in enumerate(self._sources.items())
        )
        return f"""
place(source_id, ordinal, position_shift, {", ".join(names)}) AS (VALUES {values}),
named AS (
  SELECT track.*, place.ordinal,
    regexp_extract(track.origin, '^(pid .*?)( (tid|counter|async) .*)?$', 1) AS part,
    {_OWN_ID} AS own_id,
    track.kind NOT IN ('counter', 'async') AND NOT (track.name = '' AND track.origin LIKE 'pid %') AS thread
  FROM track JOIN place ON place.source_id = track.source_id
),
process AS (
  SELECT source_id, process AS name, part, row_number() OVER (ORDER BY ordinal, min(id)) AS pid
  FROM named GROUP BY source_id, ordinal, process, part
),
spot AS (
  SELECT named.id + place.position_shift AS position, process.pid,
    (SELECT max(pid) FROM process) + row_number() OVER (ORDER BY named.ordinal, named.id) AS tid,
    named.kind, named.records, named.process, named.name, named.sort_index, named.own_id, named.thread,
    place.* EXCLUDE (source_id, position_shift)
  FROM named
  JOIN place ON place.source_id = named.source_id
  JOIN process ON process.source_id = named.source_id
    AND process.name = named.process AND process.part = named.part
),
track_ids AS (
  SELECT list(spot ORDER BY place.position) AS list
  FROM range(1, {self._end}) AS place(position) LEFT JOIN spot ON spot.position = place.position
)"""

    def of(self, table: str) -> str:
        """The rows of a table (or query in brackets) in their order, with their spot."""
        shift = shift_sql(self._shifts, "source_id")
        return f"(SELECT *, (SELECT list FROM track_ids)[track_id + {shift}] AS spot FROM {table})"

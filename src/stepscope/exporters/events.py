"""Every slice, instant, counter and flow as one flat row: the form that warehouses and spreadsheets load.

Column names begin as those of the trace event format (and of the table that people flatten it to: index, ph,
cat, name, pid, tid, ts, dur, arg_name, arg_op), with the same units: ts and dur are microseconds. The exact
picoseconds are next to them. Each column has one type in every row. One row of each kind comes first, because
warehouses guess types from the first lines and would otherwise see only NULLs in some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.exporters.fields import quote
from stepscope.exporters.numbering import follow_on, shift_sql
from stepscope.exporters.source_events import events_by_source
from stepscope.exporters.track_ids import TrackIds
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

COLUMNS = {
    "index": "number of the event: slices first, by track and time",
    "kind": "slice, instant, counter or flow",
    "ph": "phase, as in a Chrome trace",
    "cat": "category",
    "name": "name as found; of counters with their series",
    "pid": "number of the process, device or group; unique over all sources",
    "tid": "number of the track; unique over all sources",
    "ts": "start in microseconds: Unix time where the recording knows it (clock = unix)",
    "dur": "duration in microseconds; NULL for all but slices",
    "arg_name": "op or graph node",
    "arg_op": "type of the op",
    "id": "number of the arrow, or id of the object",
    "value": "value of the counter",
    "step": "step during which a slice started",
    "depth": "nesting on the track, 0 outermost",
    "ts_ps": "start in picoseconds from the origin of the capture",
    "dur_ps": "duration in picoseconds",
    "self_ps": "duration without what lies on top",
    "clock": "unix: comparable between sources; relative: only within one",
    "run_id": "run",
    "host_id": "host",
    "source": "file it was read from",
    "process": "process, device or group of the track",
    "track": "the track's own name",
    "track_kind": "what the track really is",
    "args_json": "every named value, as a JSON object",
}
"""The columns in order, with their meanings."""


def sql(trace: OpenTrace) -> str:
    """The SELECT of the rows. `args_json` stays text: no warehouse loads objects of many shapes."""
    track_ids = TrackIds(trace, _sources(trace))
    numbers, begin = {}, 1
    events = events_by_source(trace)
    for table in _OWN:
        ranges = [(part.source_id, part.first_id, part.last_id) for part in events if part.table == table]
        shifts, begin = follow_on(ranges, begin)
        numbers[table] = f"{table}.id + {shift_sql(shifts, f'{table}.source_id')}"
    first = {table: f"{table}.id IN (SELECT {table} FROM first)" for table in _OWN}
    others = {table: f"coalesce({table}.id <> (SELECT {table} FROM first), true)" for table in _OWN}
    parts = [
        _select(table, track_ids.of(table), where[table], numbers[table])
        for where in (first, others)
        for table in _OWN
    ]
    return f"""
WITH {track_ids.ctes()},
first AS (
  SELECT (SELECT id FROM slice ORDER BY (step IS NULL)::INT + (category IS NULL)::INT
      + (op_name IS NULL)::INT + (args_json IS NULL)::INT, id LIMIT 1) AS slice,
    (SELECT min(id) FROM instant) AS instant, (SELECT min(id) FROM flow) AS flow,
    (SELECT min(id) FROM counter WHERE value IS NOT NULL) AS counter
)
{" UNION ALL ".join(parts)}
"""


def _sources(trace: OpenTrace) -> dict[int, dict[str, str]]:
    rows = trace.query(statement("source_clocks")).rows()
    return {
        source_id: {
            "path": quote(path),
            "clock": quote(clock or "relative"),
            "origin_ps": f"{(origin_ns or 0) * 1000}::HUGEINT",
        }
        for source_id, path, clock, origin_ns, _ in rows
    }


def _us(ps: str) -> str:
    # DECIMAL, because a double of Unix microseconds has steps of a quarter.
    return f"(({ps})::DECIMAL(31, 0) * 0.000001::DECIMAL(7, 6))"


def _select(table: str, rows: str, where: str, number: str) -> str:
    given = {
        "index": number,
        "cat": f"{table}.category",
        "name": f"{table}.name",
        "pid": "spot.pid",
        "tid": "spot.tid",
        "ts": _us(f"{table}.ts_ps + spot.origin_ps"),
        "dur": "NULL::DECIMAL(38, 6)",
        "arg_name": "NULL::VARCHAR",
        "arg_op": "NULL::VARCHAR",
        "id": "NULL::VARCHAR",
        "value": "NULL::DOUBLE",
        "step": "NULL::BIGINT",
        "depth": "NULL::INTEGER",
        "ts_ps": f"{table}.ts_ps",
        "dur_ps": "NULL::BIGINT",
        "self_ps": "NULL::BIGINT",
        "clock": "spot.clock",
        "run_id": f"{table}.run_id",
        "host_id": f"{table}.host_id",
        "source": "spot.path",
        "process": "spot.process",
        "track": "spot.name",
        "track_kind": "spot.kind",
        "args_json": f"{table}.args_json",
        "kind": f"'{table}'",
        **_OWN[table],
    }
    columns = ", ".join(f"{given[name]} AS {name}" for name in COLUMNS)
    return f"SELECT {columns} FROM {rows} AS {table} WHERE {where}"


PHASES = """CASE instant.kind
  WHEN 'async' THEN 'n' WHEN 'object_new' THEN 'N' WHEN 'object_snapshot' THEN 'O'
  WHEN 'object_delete' THEN 'D' WHEN 'sample' THEN 'P' WHEN 'mark' THEN 'R'
  WHEN 'memory_dump' THEN 'v' WHEN 'clock_sync' THEN 'c' WHEN 'context' THEN '(' ELSE 'i' END"""
"""Phase of an instant in a Chrome trace."""

_OWN: dict[str, dict[str, str]] = {
    "slice": {
        "ph": "'X'",
        "dur": _us("slice.dur_ps"),
        "arg_name": "slice.op_name",
        "arg_op": "slice.op_type",
        "step": "slice.step",
        "depth": "slice.depth",
        "dur_ps": "slice.dur_ps",
        "self_ps": "slice.self_ps",
    },
    "counter": {
        "ph": "'C'",
        "cat": "NULL::VARCHAR",
        "name": "CASE WHEN counter.series = counter.name THEN counter.name"
        " ELSE concat(counter.name, '/', counter.series) END",
        "value": "CASE WHEN isfinite(counter.value) THEN counter.value END",
        "args_json": "NULL::VARCHAR",
    },
    "flow": {
        "ph": "CASE flow.phase WHEN 'start' THEN 's' WHEN 'step' THEN 't' ELSE 'f' END",
        "id": "flow.flow_id::VARCHAR",
    },
    "instant": {"ph": PHASES, "id": "instant.object_id"},
}
"""What columns are made of where a table has more to say than others."""

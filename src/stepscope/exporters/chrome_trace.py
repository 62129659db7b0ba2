"""Chrome trace JSON: every source in one file that chrome://tracing and Perfetto open.

One SELECT makes the text, a line an event, and the engine writes it out as it goes, so that memory does
not grow with the trace. What restarts in every source is numbered anew: processes and threads (numbers of
both are unique in the file, because Perfetto takes a thread with the number of a process, or 0, for its
main thread), arrows, objects and async sequences. Times are microseconds with exact decimals from the
origin in baseTimeNanoseconds. Named values whose name begins with $ were fields of the event itself and
become so again. Format: the Trace Event Format document of the Chromium project.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.errors import OutputError
from stepscope.exporters import Written
from stepscope.exporters.clocks import Layout, lay_out
from stepscope.exporters.staging import cannot_write

if TYPE_CHECKING:
    from stepscope.trace import Trace

EXTENSIONS = (".json",)
TEXT = True
DEFAULT = None

# A column of one text, written as it is: the delimiter is a character that JSON cannot hold unescaped.
_LINES = "FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01', USE_TMP_FILE false"


def write(trace: Trace, out: Path, table: str | None) -> Written:
    """Writes the merged trace. OutputError when rows went missing on the way."""
    if table is not None:
        raise OutputError(
            "A Chrome trace holds events, not a table.",
            seen=f"table {table}",
            todo="leave the table out, or write .csv, .ndjson or .parquet",
            slug="not-a-table",
        )
    layout = lay_out(trace)
    rows = {name: _count(trace, name) for name in ("slice", "instant", "counter", "flow")}
    if not layout.places:
        out.write_text(_head(trace, layout) + "\n]}\n", encoding="utf-8")
        return Written(str(out), rows, layout.notes)
    sql = _Text(trace, layout).sql(_head(trace, layout))
    lines = trace.copy(sql, str(out), _LINES)
    expected = trace.query(f"SELECT {_EXPECTED}").rows()[0][0]
    if lines < expected:
        raise cannot_write(out, RuntimeError(f"{expected} rows to write, {lines} written"))
    return Written(str(out), rows, layout.notes)


# Lines without those of processes and threads.
_EXPECTED = """
(SELECT count(*) FROM slice)
+ (SELECT count(*) FROM slice JOIN track ON track.id = slice.track_id WHERE track.kind = 'async')
+ (SELECT count(*) FROM instant) + (SELECT count(*) FROM flow)
+ (SELECT count(*) FROM (SELECT DISTINCT track_id, name, ts_ps FROM counter) AS moment) + 2
"""


def _count(trace: Trace, table: str) -> int:
    return int(trace.query(f"SELECT count(*) FROM {table}").rows()[0][0])


def _head(trace: Trace, layout: Layout) -> str:
    """The fields beside the events, and the beginning of the events."""
    facts = {
        row[0]: row[1:]
        for row in trace.query(
            "SELECT source_id, format, producer, complete, events_lost, events_capped FROM source"
        ).rows()
    }
    sources = []
    for place in layout.places:
        format_, producer, complete, lost, capped = facts[place.source_id]
        sources.append(
            {
                "label": place.label,
                "path": place.path,
                "run": place.run_id,
                "host": place.host_id,
                "format": format_,
                "producer": producer,
                "complete": complete,
                "events_lost": lost,
                "events_capped": capped,
                "clock": "unix" if place.known else "relative",
                "shifted_ps": place.shift_ps,
            }
        )
    head: dict[str, Any] = {"displayTimeUnit": "ns"}
    if layout.base_unix_ns is not None:
        head["baseTimeNanoseconds"] = layout.base_unix_ns
    head["stepscope"] = {"format": 1, "notes": list(layout.notes), "sources": sources}
    return json.dumps(head, ensure_ascii=True)[:-1] + ', "traceEvents": ['


def quote(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


class _Text:
    """The SELECT whose only column is the text of the file, line by line."""

    def __init__(self, trace: Trace, layout: Layout) -> None:
        self._places = layout.places
        self._several = len(layout.places) > 1
        low = min(place.start_ps + min(place.shift_ps, 0) for place in layout.places)
        high = max(place.end_ps + max(place.shift_ps, 0) for place in layout.places)
        self._signed = low < 0
        self._wide = low < -(2**62) or high > 2**62
        flows = trace.query(
            "SELECT source_id, min(flow_id), max(flow_id) FROM flow GROUP BY source_id ORDER BY source_id"
        ).rows()
        self._flow_shift = {}
        following = 1
        for source_id, first, last in flows:
            self._flow_shift[source_id] = following - first
            following += last - first + 1

    def sql(self, head: str) -> str:
        """Head, names of processes and threads, then the events in the order of their tables."""
        return f"""
WITH place(source_id, ordinal, label, shift_ps, flow_shift) AS (VALUES {self._values()}),
named AS (
  SELECT track.*, regexp_extract(track.origin, '^(.*?) (tid|line|lane) ', 1) AS part
  FROM track JOIN place ON place.source_id = track.source_id
),
process AS (
  SELECT source_id, process AS name, part, row_number() OVER (ORDER BY source_id, min(id)) AS pid
  FROM named GROUP BY source_id, process, part
),
place_of AS (
  SELECT named.id, named.kind, named.records, named.name, named.sort_index, place.ordinal, process.pid,
    (SELECT max(pid) FROM process) + row_number() OVER (ORDER BY named.id) AS tid,
    place.shift_ps{"::HUGEINT" if self._wide else ""} AS shift_ps, place.flow_shift
  FROM named
  JOIN process ON process.source_id = named.source_id
    AND process.name = named.process AND process.part = named.part
  JOIN place ON place.source_id = named.source_id
),
spot AS (
  SELECT *, concat('"pid":', pid, ',"tid":', tid, ',"ts":') AS here FROM place_of
)
SELECT {quote(head)} AS line
UNION ALL SELECT * FROM ({self._processes()}) AS processes
UNION ALL SELECT * FROM ({self._threads()}) AS threads
UNION ALL SELECT * FROM ({self._slices()}) AS slices
UNION ALL SELECT * FROM ({self._async_slices()}) AS async_slices
UNION ALL SELECT * FROM ({self._instants()}) AS instants
UNION ALL SELECT * FROM ({self._counters()}) AS counters
UNION ALL SELECT * FROM ({self._flows()}) AS flows
UNION ALL SELECT ']}}'
"""

    def _values(self) -> str:
        rows = []
        for ordinal, place in enumerate(self._places):
            flow = self._flow_shift.get(place.source_id, 0)
            label = quote(f"{place.label}: " if self._several else "")
            rows.append(f"({place.source_id}::BIGINT, {ordinal}, {label}, {place.shift_ps}, {flow}::BIGINT)")
        return ", ".join(rows)

    def _us(self, ps: str) -> str:
        """Arguments of concat() that write picoseconds as microseconds, exactly."""
        if not self._signed:
            return f"{ps} // 1000000, {_decimals(ps)}"
        return f"CASE WHEN {ps} < 0 THEN '-' END, abs({ps}) // 1000000, {_decimals(f'abs({ps})')}"

    def _args(self, table: str) -> str:
        """An argument of concat() that writes the named values, and before them the event's own fields."""
        args = f"{table}.args_json"
        fields = f"regexp_extract({args}, {quote(_FIELDS)})"
        fields = _sub(fields, r'(^\{|,)"\$([^"\\]*":)', "',\"\\2'")
        fields = _sub(fields, r"\}$", "''")
        rest = _sub(args, _FIELDS, "'}'")
        plain = args
        if self._several:
            # What slices name by id, arrows and objects, must stay that of their own source.
            own = "concat('\"\\1\":\"', spot.ordinal, ':\\2\"')"
            fields = _sub(fields, r'"(id|bind_id|global)":"?([^",}]*)"?', own)
            plain, rest = (
                f"CASE WHEN contains({text}, '\"id_ref\"') THEN {_sub(text, _REFERENCE, own)} ELSE {text} END"
                for text in (plain, rest)
            )
        return (
            f"CASE WHEN contains({args}, '\"$') THEN concat({fields},"
            f" ',\"args\":' || nullif(nullif({rest}, '}}'), '{{}}')) ELSE ',\"args\":' || {plain} END"
        )

    def _processes(self) -> str:
        return """
SELECT concat(CASE WHEN pid > 1 THEN ',' END, '{"ph":"M","name":"process_name","pid":', pid,
    ',"args":{"name":', to_json(concat(label, process.name)), '}},',
    chr(10), '{"ph":"M","name":"process_sort_index","pid":', pid, ',"args":{"sort_index":', pid, '}}')
FROM process JOIN place ON place.source_id = process.source_id ORDER BY pid"""

    def _threads(self) -> str:
        # kind and records tell a reader that knows of them what the row really is; others pass over them.
        return """
SELECT concat(',{"ph":"M","name":"thread_name","pid":', pid, ',"tid":', tid, ',"args":{"name":',
    to_json(name), ',"kind":', to_json(kind), ',"records":', to_json(records), '}}',
    ',' || chr(10) || '{"ph":"M","name":"thread_sort_index","pid":' || pid || ',"tid":' || tid
    || ',"args":{"sort_index":' || sort_index || '}}')
FROM spot WHERE kind <> 'counter' ORDER BY tid"""

    def _slices(self) -> str:
        return f"""
SELECT concat(',{{"ph":"X",', spot.here, {self._us("(slice.ts_ps + spot.shift_ps)")},
    ',"dur":', slice.dur_ps // 1000000, {_decimals("slice.dur_ps")},
    ',"name":', to_json(slice.name), ',"cat":' || to_json(slice.category), {self._args("slice")}, '}}')
FROM slice JOIN spot ON spot.id = slice.track_id WHERE spot.kind <> 'async'"""

    def _async_slices(self) -> str:
        """Beginnings and ends in the order that nests them: at one moment, what is inside ends first."""
        common = """spot.pid, ',"tid":', spot.tid, ',"id":"', spot.tid, '","ts":'"""
        return f"""
SELECT line FROM (
  SELECT track_id, ts_ps AS moment, 1 AS place, slice.id AS nth, 0 AS part, concat(
    ',{{"ph":"b","pid":', {common}, {self._us("(slice.ts_ps + spot.shift_ps)")},
    ',"name":', to_json(slice.name), ',"cat":' || to_json(slice.category),
    {self._args("slice")}, '}}') AS line
  FROM slice JOIN spot ON spot.id = slice.track_id WHERE spot.kind = 'async'
  UNION ALL
  SELECT track_id, ts_ps + dur_ps, CASE WHEN dur_ps = 0 THEN 1 ELSE 0 END,
    CASE WHEN dur_ps = 0 THEN slice.id ELSE -slice.id END, 1, concat(
    ',{{"ph":"e","pid":', {common}, {self._us("(slice.ts_ps + slice.dur_ps + spot.shift_ps)")},
    ',"name":', to_json(slice.name), ',"cat":' || to_json(slice.category), '}}')
  FROM slice JOIN spot ON spot.id = slice.track_id WHERE spot.kind = 'async'
) AS edges ORDER BY track_id, moment, place, nth, part"""

    def _instants(self) -> str:
        mark = "concat(spot.ordinal, ':', instant.object_id)" if self._several else "instant.object_id"
        return f"""
SELECT concat(',{{"ph":"', CASE instant.kind
      WHEN 'async' THEN 'n' WHEN 'object_new' THEN 'N' WHEN 'object_snapshot' THEN 'O'
      WHEN 'object_delete' THEN 'D' WHEN 'sample' THEN 'P' WHEN 'mark' THEN 'R'
      WHEN 'memory_dump' THEN 'v' WHEN 'clock_sync' THEN 'c' ELSE 'i' END, '",',
    spot.here, {self._us("(instant.ts_ps + spot.shift_ps)")}, ',"name":', to_json(instant.name),
    ',"cat":' || to_json(instant.category),
    CASE WHEN instant.object_id IS NOT NULL THEN ',"id":' || to_json({mark}) END,
    {self._args("instant")}, '}}')
FROM instant JOIN spot ON spot.id = instant.track_id"""

    def _counters(self) -> str:
        """Series of one name and moment belong to one event, as viewers expect."""
        return f"""
SELECT concat(',{{"ph":"C",', spot.here, {self._us("(moment.ts_ps + spot.shift_ps)")}, ',"name":',
    to_json(moment.name), ',"args":{{', moment.args, '}}}}')
FROM (
  SELECT track_id, name, ts_ps, nth, min(id) AS id, string_agg(concat(to_json(series), ':',
    CASE WHEN value IS NULL OR isnan(value) THEN 'null' WHEN value = 'inf' THEN '1e999'
      WHEN value = '-inf' THEN '-1e999' WHEN abs(value) < 1e15 AND value = trunc(value)
      THEN value::BIGINT::VARCHAR ELSE value::VARCHAR END), ',' ORDER BY id) AS args
  FROM (
    SELECT *, row_number() OVER (PARTITION BY track_id, name, series, ts_ps ORDER BY id) AS nth FROM counter
  ) AS numbered GROUP BY track_id, name, ts_ps, nth
) AS moment JOIN spot ON spot.id = moment.track_id ORDER BY moment.id"""

    def _flows(self) -> str:
        return f"""
SELECT concat(',{{"ph":"', CASE flow.phase WHEN 'start' THEN 's' WHEN 'step' THEN 't' ELSE 'f' END, '",',
    spot.here, {self._us("(flow.ts_ps + spot.shift_ps)")}, ',"id":', flow.flow_id + spot.flow_shift,
    ',"name":', to_json(flow.name), ',"cat":' || to_json(flow.category), {self._args("flow")}, '}}')
FROM flow JOIN spot ON spot.id = flow.track_id"""


def _decimals(ps: str) -> str:
    return f"CASE WHEN {ps} % 1000000 <> 0 THEN '.' || substr((1000000 + {ps} % 1000000)::VARCHAR, 2) END"


def _sub(text: str, pattern: str, by: str) -> str:
    """SQL that replaces each match in `text` by `by`, both SQL expressions."""
    return f"regexp_replace({text}, {quote(pattern)}, {by}, 'g')"


_STRING = r'"(?:[^"\\]|\\.)*"'
_FLAT = rf'(?:[^"\[\]{{}}]|{_STRING})*'
_VALUE = rf"(?:{_STRING}|[-+.0-9a-zA-Z]+|\[{_FLAT}\]|\{{{_FLAT}\}})"
_FIELDS = rf'(?:[{{,]"\$[^"\\]*":{_VALUE})+\}}$'
"""The fields of the event at the end of its named values."""

_REFERENCE = r'"(id_ref)" *: *"?([^",}]*)"?'
"""A value that names an object."""

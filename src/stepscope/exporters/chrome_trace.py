"""Chrome trace JSON: every source in one file that chrome://tracing and Perfetto open.

One SELECT makes the text, a line an event, and the engine writes it out as it goes, so that memory does
not grow with the trace. What restarts in every source is numbered anew: processes and threads (numbers of
both are unique in the file, because Perfetto takes a thread with the number of a process, or 0, for its
main thread), arrows, objects and async sequences. Times are microseconds with exact decimals from the
origin in baseTimeNanoseconds. Named values whose name begins with $ were fields of the event itself and
become so again. Memory comes last (memory_rows.py). Format: the Trace Event Format
document of the Chromium project.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.errors import OutputError
from stepscope.escapes import escaped_json
from stepscope.exporters import Written, memory_rows
from stepscope.exporters.clocks import Layout, lay_out
from stepscope.exporters.events import PHASES
from stepscope.exporters.fields import args_sql, quote
from stepscope.exporters.numbering import follow_on
from stepscope.exporters.own_marks import members
from stepscope.exporters.source_events import events_by_source, rows_by_table
from stepscope.exporters.track_ids import TrackIds
from stepscope.formats import chrome_trace as own
from stepscope.formats import traits
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".json",)
TEXT = True
SHOWN = escaped_json
DEFAULT = None

_AT = """'"pid":', spot.pid, ',"tid":', spot.tid, ',"ts":'"""
_OPS = """CASE WHEN spot.ops THEN
    concat(',"op_name":' || to_json(slice.op_name), ',"op_type":' || to_json(slice.op_type)) END"""

_CATEGORY = """',"cat":' || to_json(coalesce(slice.category, CASE WHEN spot.of_session THEN 'Op' END))"""
_SESSION_ARGS = """concat(',"args":{"name":', to_json(coalesce(slice.op_name, slice.name)),
      ',"op":', to_json(coalesce(slice.op_type, 'unknown')),
      CASE WHEN slice.args_json IS NULL OR slice.args_json = '{}' THEN '}'
        ELSE concat(',', substr(slice.args_json, 2)) END)"""
"""Node and type before the named values; Timeline writes unknown types this way, too."""


def leaving(parts: frozenset[str]) -> Callable[[OpenTrace, Path, str | None], Written]:
    """A write() without the arrows ("dataflow") or the counters and blocks of memory ("memory")."""
    return partial(write, dataflow="dataflow" not in parts, memory="memory" not in parts)


def write(
    trace: OpenTrace, out: Path, table: str | None, *, dataflow: bool = True, memory: bool = False
) -> Written:
    """Writes the merged trace. OutputError for rows without a track."""
    if table is not None:
        raise OutputError(
            "A Chrome trace holds events, not a table.",
            seen=f"table {table}",
            todo="leave the table out, or write .csv, .ndjson or .parquet",
            slug="not-a-table",
        )
    found = memory_rows.look(trace) if memory else memory_rows.NOTHING
    events = events_by_source(trace)
    layout = lay_out(trace, events, found.spans)
    rows = rows_by_table(events)
    if not dataflow:
        del rows["flow"]
    if found.spans:
        rows["buffer"] = found.blocks
    if not layout.places:
        out.write_text(_head(trace, layout, {}) + "\n]}\n", encoding="utf-8")
        return Written(str(out), rows, layout.notes)
    text = _TraceText(trace, layout, found, dataflow)
    marks, notes = members(trace, layout, text.track_ids)
    trace.copy(text.sql(_head(trace, layout, marks)), str(out), "text")
    return Written(str(out), rows, (*layout.notes, *found.notes, *notes))


def _head(trace: OpenTrace, layout: Layout, marks: dict[str, Any]) -> str:
    """The fields beside the events, and the start of the events."""
    source_rows = trace.query(statement("sources"))
    facts = {row[0]: dict(zip(source_rows.columns, row, strict=True)) for row in source_rows.rows()}
    sources = []
    for place in layout.places:
        of = facts[place.source_id]
        kept = ("format", "producer", "complete", "events_lost", "events_capped")
        sources.append(
            {
                "label": place.label,
                "path": place.path,
                "run": place.run_id,
                "host": place.host_id,
                **{name: of[name] for name in kept},
                "clock": "unix" if place.known else "relative",
                "shifted_ps": place.shift_ps,
            }
        )
    head: dict[str, Any] = {"displayTimeUnit": "ns"}
    if layout.base_unix_ns is not None:
        head["baseTimeNanoseconds"] = layout.base_unix_ns
    head["stepscope"] = {"format": 1, "notes": list(layout.notes), "sources": sources}
    head.update(marks)
    return json.dumps(head, ensure_ascii=True)[:-1] + ', "traceEvents": ['


class _TraceText:
    """The SELECT whose only column is the text of the file, line by line."""

    def __init__(
        self, trace: OpenTrace, layout: Layout, memory: memory_rows.MemorySources, dataflow: bool
    ) -> None:
        self._layout, self._memory, self._dataflow = layout, memory, dataflow
        self._several = len(layout.places) > 1
        high = max(place.end_ps + max(place.shift_ps, 0) for place in layout.places)
        flows, _ = follow_on(trace.query(statement("arrow_numbers")).rows())
        self._args = {name: args_sql(name, self._several) for name in ("slice", "instant", "flow")}
        number = "concat(spot.ordinal, ':', {})" if self._several else "{}"
        self._args["slice"] = f"CASE WHEN spot.of_session THEN {_SESSION_ARGS} ELSE {self._args['slice']} END"
        self._sequence = f"to_json({number.format('coalesce(spot.own_id, spot.tid::VARCHAR)')})"
        self._object = f"to_json({number.format('instant.object_id')})"
        wide = "::HUGEINT" if high > 2**62 else "::BIGINT"
        self.track_ids = TrackIds(
            trace,
            {
                place.source_id: {
                    "label": quote(f"{place.label}: " if self._several else ""),
                    "shift_ps": f"{place.shift_ps}{wide}",
                    "flow_shift": f"{flows.get(place.source_id, 0)}::BIGINT",
                    # In a Chrome trace, the arguments include op and type; they are written unchanged.
                    # As in TensorFlow's Timeline, for tools that read it.
                    "of_session": "true" if traits(place.format).sessions else "false",
                    "ops": "false" if place.format == own.NAME else "true",
                }
                for place in layout.places
            },
        )

    def sql(self, head: str) -> str:
        """Head, names of processes and threads, then the events in the order of their tables."""
        parts = {
            "processes": self._processes(),
            "threads": self._threads(),
            "slices": self._slices(),
            "async_slices": self._async_slices(),
            "instants": self._instants(),
            "counters": self._counters(),
        }
        if self._dataflow:
            parts["flows"] = self._flows()
        ctes = self.track_ids.ctes()
        if self._memory.spans:
            ctes += "," + memory_rows.ctes(self._memory, self._layout)
            begin, duration = "(block.from_ps + block.shift_ps)", "(block.to_ps - block.from_ps)"
            parts["held_processes"] = memory_rows.processes()
            parts["held_lanes"] = memory_rows.threads()
            parts["held_blocks"] = memory_rows.slices(_us(begin), _us(duration))
            parts["held_counters"] = memory_rows.counters(_us("(moment.ts_ps + moment.shift_ps)"))
        return "\n".join(
            (
                f"WITH {ctes}",
                f"SELECT {quote(head)} AS line",
                *(f"UNION ALL SELECT * FROM ({part}) AS {name}" for name, part in parts.items()),
                "UNION ALL SELECT ']}'",
            )
        )

    def _processes(self) -> str:
        # Viewers order processes by number, so this keeps those of a source together.
        return """
SELECT concat(CASE WHEN pid > 1 THEN ',' END, '{"ph":"M","name":"process_name","pid":', pid,
  ',"args":{"name":', to_json(concat(label, process.name)), '}}')
FROM process JOIN place ON place.source_id = process.source_id ORDER BY pid"""

    def _threads(self) -> str:
        # kind and records are for readers that know them; others ignore them.
        return """
SELECT concat(',{"ph":"M","name":"thread_name","pid":', pid, ',"tid":', tid, ',"args":{"name":',
    to_json(name), ',"kind":', to_json(kind), ',"records":', to_json(records), '}}',
    ',' || chr(10) || '{"ph":"M","name":"thread_sort_index","pid":' || pid || ',"tid":' || tid
    || ',"args":{"sort_index":' || sort_index || '}}')
FROM spot WHERE thread ORDER BY tid"""

    def _slices(self) -> str:
        return f"""
SELECT concat(',{{"ph":"X",', {_AT}, {_us("(slice.ts_ps + spot.shift_ps)")},
    ',"dur":', slice.dur_ps // 1000000, {_decimals("slice.dur_ps")},
    ',"name":', to_json(slice.name), {_CATEGORY},
    {_OPS}, {self._args["slice"]}, '}}')
FROM {self.track_ids.of("slice")} AS slice WHERE spot.kind <> 'async'"""

    def _async_slices(self) -> str:
        """Begins and ends in nesting order: at one moment, inner slices end first."""
        common = f"""spot.pid, ',"tid":', spot.tid, ',"id":', {self._sequence}, ',"ts":'"""
        return f"""
SELECT line FROM (
  SELECT track_id, ts_ps AS moment, 1 AS place, slice.id AS nth, 0 AS part, concat(
    ',{{"ph":"b","pid":', {common}, {_us("(slice.ts_ps + spot.shift_ps)")},
    ',"name":', to_json(slice.name), {_CATEGORY},
    {_OPS}, {self._args["slice"]}, '}}') AS line
  FROM {self.track_ids.of("slice")} AS slice WHERE spot.kind = 'async'
  UNION ALL
  SELECT track_id, ts_ps + dur_ps, CASE WHEN dur_ps = 0 THEN 1 ELSE 0 END,
    CASE WHEN dur_ps = 0 THEN slice.id ELSE -slice.id END, 1, concat(
    ',{{"ph":"e","pid":', {common}, {_us("(slice.ts_ps + slice.dur_ps + spot.shift_ps)")},
    ',"name":', to_json(slice.name), ',"cat":' || to_json(slice.category), '}}')
  FROM {self.track_ids.of("slice")} AS slice WHERE spot.kind = 'async'
) AS edges ORDER BY track_id, moment, place, nth, part"""

    def _instants(self) -> str:
        mark = f"CASE WHEN spot.kind = 'async' THEN {self._sequence} ELSE {self._object} END"
        # A phase without a kind of its own is among the event's own fields.
        return f"""
SELECT concat(',{{', CASE WHEN contains(instant.args_json, '"$ph":') THEN ''
      ELSE concat('"ph":"', {PHASES}, '",') END,
    {_AT}, {_us("(instant.ts_ps + spot.shift_ps)")}, ',"name":', to_json(instant.name),
    ',"cat":' || to_json(instant.category),
    CASE WHEN instant.object_id IS NOT NULL THEN ',"id":' || {mark} END,
    {self._args["instant"]}, '}}')
FROM {self.track_ids.of("instant")} AS instant"""

    def _counters(self) -> str:
        """Series of one name and moment form one event, as viewers expect."""
        numbered = """
    SELECT *, row_number() OVER (PARTITION BY track_id, name, series, ts_ps ORDER BY id) AS nth
    FROM counter"""
        moments = f"""(
  SELECT source_id, track_id, name, ts_ps, nth, min(id) AS id, string_agg(concat(to_json(series), ':',
    CASE WHEN value IS NULL OR isnan(value) THEN 'null' WHEN value = 'inf' THEN '1e999'
      WHEN value = '-inf' THEN '-1e999' WHEN abs(value) < 1e15 AND value = trunc(value)
      THEN value::BIGINT::VARCHAR ELSE value::VARCHAR END), ',' ORDER BY id) AS args
  FROM ({numbered}
  ) AS numbered GROUP BY source_id, track_id, name, ts_ps, nth
) AS grouped"""
        return f"""
SELECT concat(',{{"ph":"C",', {_AT}, {_us("(moment.ts_ps + spot.shift_ps)")}, ',"name":',
    to_json(moment.name), ',"id":' || to_json(spot.own_id), ',"args":{{', moment.args, '}}}}')
FROM {self.track_ids.of(moments)} AS moment ORDER BY moment.id"""

    def _flows(self) -> str:
        return f"""
SELECT concat(',{{"ph":"', CASE flow.phase WHEN 'start' THEN 's' WHEN 'step' THEN 't' ELSE 'f' END, '",',
    {_AT}, {_us("(flow.ts_ps + spot.shift_ps)")}, ',"id":', flow.flow_id + spot.flow_shift,
    ',"name":', to_json(flow.name), ',"cat":' || to_json(flow.category), {self._args["flow"]}, '}}')
FROM {self.track_ids.of("flow")} AS flow"""


def _us(ps: str) -> str:
    """Arguments of concat() that write non-negative picoseconds as microseconds, exactly."""
    return f"{ps} // 1000000, {_decimals(ps)}"


def _decimals(ps: str) -> str:
    return f"CASE WHEN {ps} % 1000000 <> 0 THEN '.' || substr((1000000 + {ps} % 1000000)::VARCHAR, 2) END"

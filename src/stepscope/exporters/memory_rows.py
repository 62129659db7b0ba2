"""Memory in a Chrome trace: a counter for each allocator, and every block as a slice from birth to death.

Each allocator of each device is a process of its own, behind all others. Its rows are lanes: chrome://tracing
and Perfetto both show slices in rows, while objects (phases N and D, which TensorFlow's Timeline writes) are
left out by Perfetto. The rows say that they are derived, so that a reader of the file adds none of them to
the work of a device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.formats import chrome_trace as own
from stepscope.instruments.memory import moves
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.exporters.clocks import Layout
    from stepscope.session.trace import OpenTrace


@dataclass(frozen=True)
class MemorySources:
    """Sources with memory, and its first and last moment."""

    spans: Mapping[int, tuple[int, int]]
    blocks: int
    """Blocks that are drawn."""
    notes: tuple[str, ...]


NOTHING = MemorySources({}, 0, ())


def look(trace: OpenTrace) -> MemorySources:
    """The memory in a trace. A Chrome trace keeps its own counters; only Kineto's has none."""
    sources = [
        number
        for number, _, _, _, form, _, _, framework, *_ in trace.query(statement("sources")).rows()
        if form != own.NAME or framework == "pytorch"
    ]
    if not sources:
        return NOTHING
    rows = trace.query(statement("memory_spans", sources=sources)).rows()
    notes = []
    if left := sum(row[4] for row in rows):
        size = units.show(sum(row[5] for row in rows), "bytes")
        notes.append(
            f"{units.count(left, 'block')} of memory ({size} in all, the smallest) would need more rows than"
            " anybody can look at: they count in the counters and are not drawn."
        )
    if beyond := sum(moves.count_unread(trace.query, row[0]) for row in rows):
        notes.append(
            f"{units.count(beyond, 'movement')} of memory came after the first {moves.MOST_MOVES:,} of a"
            " recording and are not shown."
        )
    return MemorySources(
        {row[0]: (row[1], row[2]) for row in rows}, sum(row[3] for row in rows), tuple(notes)
    )


def ctes(memory: MemorySources, layout: Layout) -> str:
    """Common table expressions after those of TrackIds: held (allocators), held_lane and held_block."""
    values = []
    for place in layout.places:
        if place.source_id in memory.spans:
            first, last = memory.spans[place.source_id]
            values.append(
                f"({place.source_id}::BIGINT, {min(first, place.start_ps)}::BIGINT,"
                f" {max(last, place.end_ps)}::BIGINT)"
            )
    return f"""
held_span(source_id, first_ps, last_ps) AS (VALUES {", ".join(values)}),
held AS (
  SELECT block.source_id, block.device, block.allocator, any_value(place.label) AS label,
    any_value(place.ordinal) AS ordinal,
    (SELECT coalesce(max(tid), 0) FROM spot)
      + row_number() OVER (ORDER BY any_value(place.ordinal), block.device, block.allocator) AS pid
  FROM buffer AS block JOIN held_span ON held_span.source_id = block.source_id
  JOIN place ON place.source_id = block.source_id
  GROUP BY block.source_id, block.device, block.allocator
),
held_lane AS (
  SELECT held.pid, block.lane,
    (SELECT max(pid) FROM held) + row_number() OVER (ORDER BY held.pid, block.lane) AS tid
  FROM (SELECT DISTINCT source_id, device, allocator, lane FROM buffer WHERE lane IS NOT NULL) AS block
  JOIN held ON {_SAME}
),
held_block AS (
  SELECT block.*, held.pid, place.shift_ps,
    coalesce(block.born_ps, held_span.first_ps) AS from_ps,
    greatest(coalesce(block.freed_ps, held_span.last_ps),
      coalesce(block.born_ps, held_span.first_ps)) AS to_ps
  FROM buffer AS block JOIN held ON {_SAME}
  JOIN held_span ON held_span.source_id = block.source_id
  JOIN place ON place.source_id = block.source_id
)"""


_SAME = "held.source_id = block.source_id AND held.device = block.device AND held.allocator = block.allocator"


def processes() -> str:
    """Names of the processes and their rows."""
    return """
SELECT concat(',{"ph":"M","name":"process_name","pid":', pid, ',"args":{"name":',
  to_json(concat(label, device, CASE WHEN device <> '' THEN ' ' END, 'memory: ', allocator)), '}}')
FROM held ORDER BY pid"""


def threads() -> str:
    """Names of the lanes."""
    return """
SELECT concat(',{"ph":"M","name":"thread_name","pid":', pid, ',"tid":', tid,
  ',"args":{"name":"blocks, lane ', lane, '","kind":"derived","records":"annotation"}}',
  ',' || chr(10) || '{"ph":"M","name":"thread_sort_index","pid":' || pid || ',"tid":' || tid
  || ',"args":{"sort_index":' || lane || '}}')
FROM held_lane ORDER BY tid"""


def slices(us: str, duration_us: str) -> str:
    """Blocks as slices. us, duration_us: arguments of concat() that write the shifted from_ps, and the
    duration."""
    return f"""
SELECT concat(',{{"ph":"X","pid":', block.pid, ',"tid":', held_lane.tid, ',"ts":', {us},
  ',"dur":', {duration_us}, ',"name":', to_json(concat(
    CASE WHEN block.born_ps IS NULL THEN '(held before the recording began)'
      ELSE coalesce(block.op_name, '(unknown op)') END, ':' || nullif(block.slot, 0))),
  ',"cat":"Memory","args":{{"bytes":', block.bytes, ',"kind":', to_json(block.kind),
  ',"op_type":' || to_json(block.op_type), ',"dtype":' || to_json(block.dtype), ',"shape":' || block.shape,
  ',"readers":', block.readers, ',"at_peak":', block.at_peak,
  CASE WHEN block.born_ps IS NULL THEN ',"born":"before the recording"' END,
  CASE WHEN block.freed_ps IS NULL THEN ',"freed":"not within the recording"' END,
  ',"held_after_last_use_ps":' || (block.freed_ps - block.last_use_ps), '}}}}')
FROM held_block AS block JOIN held_lane ON held_lane.pid = block.pid AND held_lane.lane = block.lane
ORDER BY held_lane.tid, block.from_ps, block.to_ps DESC, block.id"""


def counters(us: str) -> str:
    """Bytes held from each moment on. At one moment, allocations count before frees."""
    return f"""
SELECT concat(',{{"ph":"C","pid":', moment.pid, ',"ts":', {us},
  ',"name":"bytes held","args":{{"bytes":', moment.now, '}}}}')
FROM (
  SELECT pid, shift_ps, ts_ps, place, id,
    sum(delta) OVER (PARTITION BY pid ORDER BY ts_ps, place, id ROWS UNBOUNDED PRECEDING) AS now
  FROM (
    SELECT pid, shift_ps, from_ps AS ts_ps, CASE WHEN born_ps IS NULL THEN 0 ELSE 1 END AS place, id,
      bytes AS delta FROM held_block
    UNION ALL
    SELECT pid, shift_ps, to_ps, 2, id, -bytes FROM held_block WHERE freed_ps IS NOT NULL
  ) AS moves
) AS moment ORDER BY pid, ts_ps, place, id"""

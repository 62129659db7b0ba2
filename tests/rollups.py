"""The tables of rollups once more, as questions about slices: the core must make the same in one pass."""

from collections.abc import Iterable
from typing import Any

CALLED = """
SELECT DISTINCT
  s.rollup_id, s.run_id, s.host_id, s.source_id, s.track_id,
  s.name, s.category, s.op_name, s.op_type, p.place, p.producer, p.track_name, p.copies
FROM slice AS s INNER JOIN track_place AS p ON p.track_id = s.track_id
ORDER BY s.rollup_id
"""
"""How the slices of each row of rollup_op are called, and where they lie as the view track_place has it."""


def classed(called: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of CALLED with what the rules say of them: class, wait, layer, is_op."""
    from stepscope import _core

    return [(*row, *_core.slice_class(*row[5:])) for row in called]


_LOADED = """
WITH work AS MATERIALIZED (SELECT * FROM work_slice),
laid AS (
  SELECT w.track_id AS of_id, w.track_id, w.device_track_id, w.piece_id, w.slice_id, w.from_ps, w.to_ps
  FROM work AS w
  UNION ALL
  SELECT w.device_track_id, NULL, w.device_track_id, w.piece_id, w.slice_id, w.from_ps, w.to_ps FROM work AS w
),
covered AS (
  SELECT l.*, MAX(l.to_ps) OVER (
    PARTITION BY l.track_id IS NULL, l.of_id, l.piece_id ORDER BY l.from_ps, l.slice_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS covered_ps
  FROM laid AS l
),
loaded AS (
  SELECT
    c.*,
    CASE WHEN c.covered_ps > c.from_ps THEN GREATEST(c.to_ps - c.covered_ps, 0) ELSE c.to_ps - c.from_ps END
      AS busy_ps,
    CASE WHEN c.covered_ps IS NOT NULL THEN GREATEST(c.from_ps - c.covered_ps, 0) END AS gap_ps
  FROM covered AS c
)
SELECT
  ROW_NUMBER() OVER (PARTITION BY l.track_id IS NULL ORDER BY l.of_id, l.piece_id) - 1 AS id,
  t.run_id, t.host_id, t.source_id, l.device_track_id, l.track_id, l.piece_id,
  CAST(SUM(l.busy_ps) AS BIGINT) AS busy_ps,
  CAST(SUM(l.to_ps - l.from_ps) AS BIGINT) AS work_ps,
  COUNT(*) AS slices,
  CAST(SUM(CASE WHEN l.gap_ps > 0 THEN 1 ELSE 0 END) AS BIGINT) AS gaps,
  COALESCE(MAX(l.gap_ps), 0) AS most_gap_ps,
  CAST(SUM(CASE WHEN l.gap_ps > 0 AND l.gap_ps < 100000000 THEN 1 ELSE 0 END) AS BIGINT) AS short_gaps,
  CAST(SUM(CASE WHEN l.gap_ps > 0 AND l.gap_ps < 100000000 THEN l.gap_ps ELSE 0 END) AS BIGINT)
    AS short_gaps_ps,
  MIN(l.from_ps) AS first_ps,
  MAX(l.to_ps) AS last_ps
FROM loaded AS l
INNER JOIN track AS t ON t.id = l.of_id
GROUP BY t.run_id, t.host_id, t.source_id, l.device_track_id, l.of_id, l.track_id, l.piece_id
"""

TWINS = {
    "rollup_op": """
SELECT
  r.id, s.run_id, s.host_id, s.source_id, s.track_id, s.name, s.category, s.op_name, s.op_type,
  r.class, r.wait, r.layer, r.is_op,
  COUNT(*) AS slices,
  CAST(SUM(s.dur_ps) AS BIGINT) AS total_ps,
  CAST(SUM(s.self_ps) AS BIGINT) AS self_ps,
  CAST(SUM(CASE WHEN r.is_op THEN COALESCE(s.op_self_ps, s.self_ps) END) AS BIGINT) AS op_self_ps,
  MIN(s.dur_ps) AS min_ps,
  MAX(s.dur_ps) AS max_ps
FROM slice AS s
INNER JOIN rollup_op AS r ON r.id = s.rollup_id
GROUP BY ALL
""",
    "rollup_device": _LOADED,
    "rollup_step": """
WITH cut AS (
  SELECT
    s.run_id, s.host_id, s.source_id, s.id AS step_id, w.wait, w.slice_id,
    GREATEST(w.ts_ps, s.ts_ps) AS from_ps,
    LEAST(w.end_ps, s.ts_ps + s.dur_ps) AS to_ps
  FROM step_stored AS s
  INNER JOIN wait_slice AS w
    ON w.source_id = s.source_id AND w.ts_ps < s.ts_ps + s.dur_ps AND w.end_ps > s.ts_ps
  WHERE w.place <> 'device'
),
ordered AS (
  SELECT c.*, MAX(c.to_ps) OVER (
    PARTITION BY c.step_id, c.wait ORDER BY c.from_ps, c.slice_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS covered_ps
  FROM cut AS c
)
SELECT
  ROW_NUMBER() OVER () - 1 AS id, o.run_id, o.host_id, o.source_id, o.step_id, o.wait, COUNT(*) AS waits,
  CAST(SUM(CASE
    WHEN o.covered_ps IS NULL OR o.covered_ps <= o.from_ps THEN o.to_ps - o.from_ps
    WHEN o.covered_ps >= o.to_ps THEN 0
    ELSE o.to_ps - o.covered_ps
  END) AS BIGINT) AS waited_ps
FROM ordered AS o
GROUP BY o.run_id, o.host_id, o.source_id, o.step_id, o.wait
""",
}

-- Which ops compute on a thread of the host, and launch nothing?
--
-- reads: rollup_op, track_place, slice, step_window
-- notes: Of PyTorch, where calls of the device's runtime are recorded: an op with such a call in it, or in the ops that
--   it calls, launches, and its own time is what launching takes. Ops that are shorter than 200 µs on average are left
--   out: those may only find out what to launch.
-- columns:
--   run_id, host_id, source_id
--   op | text | name of the op
--   runs | int | how often it ran
--   own_ps | ps | self times, added up
WITH devices AS (
  SELECT t.source_id
  FROM track_place AS t
  WHERE t.place = 'device'
  GROUP BY t.source_id
),

callings AS (
  SELECT r.source_id
  FROM rollup_op AS r
  WHERE runtime_call!(r.category)
  GROUP BY r.source_id
),

longs AS (
  SELECT r.id AS long_id, r.run_id, r.host_id, r.source_id, r.name
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  INNER JOIN devices AS d ON d.source_id = r.source_id
  INNER JOIN callings AS c ON c.source_id = r.source_id
  WHERE
    p.place = 'host' AND r.category = 'cpu_op' AND r.class = 'compute' AND r.self_ps >= r.slices * 200000000
),

executions AS (
  SELECT
    columns!(g, long_id, run_id, host_id, source_id, name),
    s.id AS slice_id,
    columns!(s, track_id, ts_ps, self_ps),
    s.ts_ps + s.dur_ps AS end_ps
  FROM longs AS g
  INNER JOIN slice AS s ON s.rollup_id = g.long_id
),

used AS (
  SELECT e.track_id AS used_track
  FROM executions AS e
  GROUP BY e.track_id
),

begun AS (
  SELECT e.long_id, e.track_id AS on_track, e.slice_id AS number, e.end_ps, CAST(NULL AS BIGINT) AS launch_ps
  FROM executions AS e
  UNION ALL
  SELECT NULL, c.track_id, c.id, NULL, c.ts_ps
  FROM slice AS c
  INNER JOIN used AS u ON u.used_track = c.track_id
  WHERE c.correlation_id IS NOT NULL
),

followed AS (
  SELECT
    columns!(b, long_id, end_ps),
    MIN(b.launch_ps) OVER (
      PARTITION BY b.on_track ORDER BY b.number NULLS LAST ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    ) AS next_launch_ps
  FROM begun AS b
),

callers AS (
  SELECT f.long_id AS caller_id
  FROM followed AS f
  WHERE f.next_launch_ps < f.end_ps
  GROUP BY f.long_id
)

SELECT
  columns!(e, run_id, host_id, source_id),
  e.name AS op,
  COUNT(*) AS runs,
  sum!(e.self_ps) AS own_ps
FROM executions AS e
INNER JOIN step_window AS w ON w.source_id = e.source_id
LEFT JOIN callers AS k ON k.caller_id = e.long_id
WHERE k.caller_id IS NULL AND e.ts_ps >= w.open_ps AND e.ts_ps < w.close_ps
GROUP BY columns!(e, run_id, host_id, source_id, name)

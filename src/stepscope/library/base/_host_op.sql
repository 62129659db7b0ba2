-- Ops that run on a processor while steps use an accelerator
--
-- question: Which ops compute on a thread of the host, and launch nothing?
-- reads: rollup_op, track_place, slice, step_window
-- notes: Of PyTorch, where calls of the device's runtime are recorded: an op around such a call launches, and its own
--   time is what launching takes. Ops that are shorter than 200 µs on average are left out: those may only find out
--   what to launch.
-- columns:
--   run_id, host_id, source_id
--   op | text | Op | name of the op
--   runs | int | Runs | how often it ran
--   own_ps | ps | Self | self times, added up
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
    columns!(s, ts_ps, self_ps)
  FROM longs AS g
  INNER JOIN slice AS s ON s.rollup_id = g.long_id
),

callers AS (
  SELECT e.long_id AS caller_id
  FROM executions AS e
  INNER JOIN slice AS c ON c.parent_id = e.slice_id
  WHERE c.correlation_id IS NOT NULL
  GROUP BY e.long_id
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

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
WITH callers AS (
  SELECT q.rollup_id
  FROM slice AS c
  INNER JOIN slice AS q ON q.id = c.parent_id
  WHERE c.correlation_id IS NOT NULL
  GROUP BY q.rollup_id
),

devices AS (
  SELECT t.source_id
  FROM slice AS d
  INNER JOIN track_place AS t ON t.track_id = d.track_id
  WHERE d.correlation_id IS NOT NULL AND t.place = 'device'
  GROUP BY t.source_id
),

longs AS (
  SELECT r.id AS long_id, r.run_id, r.host_id, r.source_id, r.name
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  INNER JOIN devices AS d ON d.source_id = r.source_id
  LEFT JOIN callers AS c ON c.rollup_id = r.id
  WHERE
    p.place = 'host' AND r.category = 'cpu_op' AND r.class = 'compute' AND r.self_ps >= r.slices * 200000000
    AND c.rollup_id IS NULL
)

SELECT
  columns!(g, run_id, host_id, source_id),
  g.name AS op,
  COUNT(*) AS runs,
  sum!(s.self_ps) AS own_ps
FROM longs AS g
INNER JOIN slice AS s ON s.rollup_id = g.long_id
INNER JOIN step_window AS w ON w.source_id = s.source_id
WHERE s.ts_ps >= w.open_ps AND s.ts_ps < w.close_ps
GROUP BY columns!(g, run_id, host_id, source_id, name)

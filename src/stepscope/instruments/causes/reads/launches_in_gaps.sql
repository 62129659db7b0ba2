-- Launches while devices are idle
--
-- question: Which ops does a host launch while its devices have nothing to do, and for how long?
-- reads: device_gap, track_place, slice, rollup_op
-- notes: Of recordings that show launches as rows of the device (StepStats, tf Timeline). Launches that overlap count
--   once in all_ps, and once for each op in op_ps. Of several devices, the one in whose gaps an op is launched longest.
-- parameters:
--   run_id | text | run
--   host_id | text | host
-- columns:
--   op | text | op that is launched for longest
--   op_ps | ps | for how long
--   all_ps | ps | for how long any op is
WITH launches AS (
  SELECT
    columns!(s, id, source_id, ts_ps),
    s.ts_ps + s.dur_ps AS end_ps,
    COALESCE(r.op_name, r.name) AS op
  FROM slice AS s
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  WHERE p.place = 'launch' AND s.dur_ps > 0 AND s.run_id = $run_id AND s.host_id = $host_id
),

shared AS (
  SELECT
    columns!(l, id, op),
    columns!(g, source_id, device, begin_ps),
    greatest!(l.ts_ps, g.begin_ps) AS from_ps,
    least!(l.end_ps, g.begin_ps + g.idle_ps) AS to_ps
  FROM device_gap AS g
  INNER JOIN launches AS l
    ON l.source_id = g.source_id AND l.ts_ps < g.begin_ps + g.idle_ps AND l.end_ps > g.begin_ps
  WHERE g.place = 'device'
),

ordered AS (
  SELECT
    columns!(s, device, op, from_ps, to_ps),
    covered!(s.to_ps, s.from_ps, s.id, s.source_id, s.device, s.begin_ps) AS covered_ps
  FROM shared AS s
),

ops AS (
  SELECT
    o.device,
    o.op,
    SUM(o.to_ps - o.from_ps) AS op_sum,
    SUM(uncovered!(o.covered_ps, o.from_ps, o.to_ps)) AS new_sum
  FROM ordered AS o
  GROUP BY o.device, o.op
)

SELECT
  p.op,
  CAST(p.op_sum AS BIGINT) AS op_ps,
  CAST(SUM(p.new_sum) OVER (PARTITION BY p.device) AS BIGINT) AS all_ps
FROM ops AS p
ORDER BY nulls_last!(p.op_sum DESC, p.op, p.device)
LIMIT 1

-- Which ops does a host launch while its devices have nothing to do, and for how long?
--
-- reads: device_gap, track_place, slice, rollup_op
-- notes: Of recordings that show launches as rows of the device (StepStats, tf Timeline). Launches that overlap count
--   once in all_ps, and once for each op in op_ps. Of several devices, the one in whose gaps an op is launched longest.
--   A device's idle time between two moments is what had passed of it at the later one less that at the earlier one:
--   to compare each launch with each gap takes the square of their number.
-- parameters: run_id, host_id
-- columns:
--   op | text | op that is launched for longest
--   op_ps | ps | for how long
--   all_ps | ps | for how long any op is
--   called | int | 1 where it is a call of a runtime by its own name, as tracers of these draw it, and no op
WITH launches AS (
  SELECT
    columns!(s, id, source_id, ts_ps, rollup_id),
    s.ts_ps + s.dur_ps AS end_ps
  FROM slice AS s
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE p.place = 'launch' AND s.dur_ps > 0 AND s.run_id = $run_id AND s.host_id = $host_id
),

ordered AS (
  SELECT
    columns!(l, source_id, rollup_id, ts_ps, end_ps),
    covered!(l.end_ps, l.ts_ps, l.id, l.source_id) AS covered_ps
  FROM launches AS l
),

moments AS (
  SELECT
    columns!(o, source_id, rollup_id),
    o.ts_ps AS at_ps,
    -1 AS of_op,
    CASE WHEN o.covered_ps > o.ts_ps THEN 0 ELSE -1 END AS of_all
  FROM ordered AS o
  UNION ALL
  SELECT
    columns!(o, source_id, rollup_id),
    o.end_ps AS at_ps,
    1 AS of_op,
    CASE WHEN o.covered_ps >= o.end_ps THEN 0 ELSE 1 END AS of_all
  FROM ordered AS o
  UNION ALL
  SELECT columns!(o, source_id, rollup_id), o.covered_ps AS at_ps, 0 AS of_op, -1 AS of_all
  FROM ordered AS o
  WHERE o.covered_ps > o.ts_ps AND o.covered_ps < o.end_ps
),

devices AS (
  SELECT p.source_id, p.device
  FROM track_place AS p
  WHERE p.place = 'device'
  GROUP BY p.source_id, p.device
),

marks AS (
  SELECT d.source_id, d.device, m.rollup_id, m.at_ps, m.of_op, m.of_all, 0 AS idle_ps, CAST(NULL AS BIGINT) AS end_ps
  FROM moments AS m
  INNER JOIN devices AS d ON d.source_id = m.source_id
  UNION ALL
  SELECT
    columns!(g, source_id, device),
    NULL AS rollup_id,
    g.begin_ps AS at_ps,
    0 AS of_op,
    0 AS of_all,
    g.idle_ps,
    g.begin_ps + g.idle_ps AS end_ps
  FROM device_gap AS g
  WHERE g.place = 'device'
),

passed AS (
  SELECT
    columns!(m, device, rollup_id, at_ps, of_op, of_all),
    SUM(m.idle_ps) OVER (
      PARTITION BY m.source_id, m.device
      ORDER BY m.at_ps NULLS LAST, m.idle_ps NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS begun_ps,
    MAX(m.end_ps) OVER (
      PARTITION BY m.source_id, m.device
      ORDER BY m.at_ps NULLS LAST, m.idle_ps NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS until_ps
  FROM marks AS m
),

idle AS (
  SELECT
    columns!(p, device, rollup_id, of_op, of_all),
    p.begun_ps - CASE WHEN p.until_ps > p.at_ps THEN p.until_ps - p.at_ps ELSE 0 END AS idle_until_ps
  FROM passed AS p
  WHERE p.rollup_id IS NOT NULL
),

labels AS (
  SELECT
    columns!(i, device, rollup_id),
    SUM(i.of_op * i.idle_until_ps) AS own_sum,
    SUM(i.of_all * i.idle_until_ps) AS own_new_sum
  FROM idle AS i
  GROUP BY columns!(i, device, rollup_id)
),

devices_summed AS (
  SELECT b.device, SUM(b.own_new_sum) AS all_sum FROM labels AS b GROUP BY b.device
),

named AS (
  SELECT
    b.device,
    COALESCE(r.op_name, r.name) AS op,
    b.own_sum,
    CASE WHEN r.op_name IS NULL THEN 1 ELSE 0 END AS of_runtime
  FROM labels AS b
  INNER JOIN rollup_op AS r ON r.id = b.rollup_id
  WHERE b.own_sum > 0
),

ops AS (
  SELECT n.device, n.op, SUM(n.own_sum) AS op_sum, MIN(n.of_runtime) AS only_called
  FROM named AS n
  GROUP BY n.device, n.op
)

SELECT
  p.op,
  CAST(p.op_sum AS BIGINT) AS op_ps,
  CAST(d.all_sum AS BIGINT) AS all_ps,
  p.only_called AS called
FROM ops AS p
INNER JOIN devices_summed AS d ON d.device = p.device
ORDER BY nulls_last!(p.op_sum DESC, p.op, p.device)
LIMIT 1

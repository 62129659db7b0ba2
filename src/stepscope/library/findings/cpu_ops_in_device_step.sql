-- Ops run on the processor although there is an accelerator
--
-- question: While an accelerator is idle, which ops keep the host busy?
-- reads: op_sum, device_sum, source
-- severity: medium
-- impact: The host works {impact_ps} on {op_type} ({runs} times) while {device} is idle for {idle_share} of
--   the window.
-- action: Place the op on the device if it has a kernel there (tf.debugging.set_log_device_placement(True)
--   tells), replace it by one that has, or move it into the input pipeline, where it overlaps with training.
-- weakened_by: lost, capped, truncated
-- notes: Only where TensorFlow names its ops (StepStats, tf Timeline, XPlane), and only types that take at
--   least 10 % of the window on the host.
-- columns:
--   severity | text | Severity | medium
--   impact_ps | ps | On the host | self times on the host, added up
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   op_type | text | Op type | type of the op
--   runs | int | Runs | how often it ran
--   device | text | Idle device | the accelerator with most idle time
--   idle_share | ratio | Device idle | idle time of that accelerator as part of the window
WITH ranked AS (
  SELECT
    d.source_id,
    d.device,
    d.sum_idle_ps,
    d.window_ps,
    ROW_NUMBER() OVER (
      PARTITION BY d.source_id ORDER BY d.sum_idle_ps DESC NULLS LAST, d.device NULLS LAST
    ) AS place_in_list
  FROM device_sum AS d
  WHERE d.place = 'device'
),

host_types AS (
  SELECT
    o.run_id,
    o.host_id,
    o.source_id,
    o.op_type,
    SUM(o.sum_self_ps) AS host_ps,
    SUM(o.slices) AS number
  FROM op_sum AS o
  INNER JOIN source AS s ON s.source_id = o.source_id
  WHERE
    o.place = 'host'
    AND o.device_kind = 'cpu'
    AND o.class IN ('compute', 'python')
    AND s.producer IN ('tf_timeline', 'step_stats', 'tf_profiler')
  GROUP BY o.run_id, o.host_id, o.source_id, o.op_type
)

SELECT
  'medium' AS severity,
  CAST(t.host_ps AS BIGINT) AS impact_ps,
  t.run_id,
  t.host_id,
  t.source_id,
  t.op_type,
  CAST(t.number AS BIGINT) AS runs,
  r.device,
  CAST(r.sum_idle_ps AS DOUBLE) / NULLIF(r.window_ps, 0) AS idle_share
FROM host_types AS t
INNER JOIN ranked AS r ON r.source_id = t.source_id AND r.place_in_list = 1
WHERE r.sum_idle_ps * 5 >= r.window_ps AND t.host_ps * 10 >= r.window_ps AND t.host_ps > 0
ORDER BY t.host_ps DESC NULLS LAST, t.source_id NULLS LAST, t.op_type NULLS LAST

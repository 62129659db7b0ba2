-- Ops run on the processor although there is an accelerator
--
-- question: While an accelerator is idle, which ops keep the host busy?
-- reads: op_sum, device_sum, source, flow, slice, track_place, rollup_op, _host_op
-- severity: medium
-- impact: {op_type} ({runs} {runs:run|runs}{with_copies}) takes {impact_ps} while {device} is idle for
--   {idle_share} of the window.
-- action: Place the op on the device if it has a kernel there (tf.debugging.set_log_device_placement(True)
--   shows where ops run), replace it with one that has, or move it into the input pipeline, where it
--   overlaps with training.
-- action_pytorch: Make and compute tensors on the device that uses them (device=…), or in the workers of a DataLoader,
--   where it overlaps with training.
-- weakened_by: lost, capped, truncated
-- notes: Only where TensorFlow names its ops (StepStats, tf Timeline, XPlane), or PyTorch those that launch nothing
--   and take 200 µs or more, and only types that take at least 10 % of the window with their copies. Arrows tie
--   copies to the ops they are for; only StepStats has them, so other recordings count no copies and the sentence
--   does not speak of any. What TensorFlow's profiler counts to no step, while it counts what fetches the next batch,
--   runs in functions of the input pipeline.
-- reasoning: An op without a kernel for the accelerator runs on the processor, and its inputs and outputs
--   are copied there and back. In a timeline this looks like work on the host while the device has nothing
--   to do. Two conditions must hold: the accelerator is idle for a fifth of the window, and one op type
--   with its copies takes a tenth of it.
-- formula: impact = sum of self times of the op type on CPU devices + durations of the copies that it
--   forces; reported when the idle time of the least busy accelerator >= 0.2 x window and impact >= 0.1 x
--   window.
-- columns:
--   impact_ps | ps | Cost | self times on the host and durations of the copies, added up
--   run_id, host_id, source_id
--   op_type | text | Op type | type of the op
--   runs | int | Runs | how often it ran
--   host_ps | ps | On the host | self times on the host, added up
--   copies | int | Copies | copies from and to an accelerator of what it takes and gives
--   copies_ps | ps | Copying | durations of these copies, added up
--   with_copies | text | With copies | the copies in words; empty where none is known
--   device | text | Idle device | the accelerator with most idle time
--   idle_share | ratio | Device idle | idle time of that accelerator as part of the window
WITH ranked AS (
  SELECT
    columns!(d, source_id, device, sum_idle_ps, window_ps),
    ROW_NUMBER() OVER (
      PARTITION BY d.source_id ORDER BY nulls_last!(d.sum_idle_ps DESC, d.device)
    ) AS place_in_list
  FROM device_sum AS d
  WHERE d.place = 'device'
),

host_types AS (
  SELECT
    columns!(o, run_id, host_id, source_id, op_type),
    SUM(o.sum_self_ps) AS host_ps,
    SUM(o.slices) AS number
  FROM op_sum AS o
  INNER JOIN source AS s ON s.source_id = o.source_id
  WHERE
    o.place = 'host'
    AND o.device_kind = 'cpu'
    AND o.class IN ('compute', 'python')
    AND s.framework = 'tensorflow'
  GROUP BY columns!(o, run_id, host_id, source_id, op_type)
  UNION ALL
  SELECT columns!(t, run_id, host_id, source_id, op, own_ps, runs)
  FROM _host_op AS t
),

copied AS (
  SELECT f.source_id, f.flow_id, c.id AS copy_id, c.dur_ps
  FROM flow AS f
  INNER JOIN slice AS c ON c.id = f.slice_id
  INNER JOIN rollup_op AS k ON k.id = c.rollup_id
  WHERE f.phase = 'step' AND k.op_type LIKE 'MEMCPY%'
),

forced AS (
  SELECT
    c.source_id,
    k.op_type,
    c.copy_id,
    MAX(c.dur_ps) AS copy_ps
  FROM copied AS c
  INNER JOIN flow AS e ON e.source_id = c.source_id AND e.flow_id = c.flow_id
  INNER JOIN slice AS h ON h.id = e.slice_id
  INNER JOIN rollup_op AS k ON k.id = h.rollup_id
  INNER JOIN track_place AS p ON p.track_id = k.track_id
  WHERE e.phase <> 'step' AND p.place = 'host' AND p.device_kind = 'cpu'
  GROUP BY c.source_id, k.op_type, c.copy_id
),

forced_types AS (
  SELECT
    columns!(f, source_id, op_type),
    COUNT(*) AS number,
    SUM(f.copy_ps) AS sum_ps
  FROM forced AS f
  GROUP BY f.source_id, f.op_type
),

-- Only what may be told is looked at one by one.
long_types AS (
  SELECT t.source_id, t.op_type
  FROM host_types AS t
  INNER JOIN ranked AS r ON r.source_id = t.source_id AND r.place_in_list = 1
  WHERE t.host_ps * 10 >= r.window_ps
  GROUP BY t.source_id, t.op_type
),

piped AS (
  SELECT
    l.source_id AS piped_source,
    l.op_type AS piped_type,
    MAX(CASE WHEN s.args_json LIKE '%"group_id"%' THEN 1 ELSE 0 END) AS grouped
  FROM long_types AS l
  INNER JOIN rollup_op AS k ON k.source_id = l.source_id AND k.op_type = l.op_type
  INNER JOIN slice AS s ON s.rollup_id = k.id
  GROUP BY l.source_id, l.op_type
),

fetched AS (
  SELECT s.source_id AS fetched_source
  FROM rollup_op AS r
  INNER JOIN slice AS s ON s.rollup_id = r.id
  WHERE r.wait = 'input' AND s.args_json LIKE '%"group_id"%'
  GROUP BY s.source_id
),

costs AS (
  SELECT
    columns!(t, run_id, host_id, source_id, op_type, number),
    t.host_ps AS own_ps,
    COALESCE(f.number, 0) AS copy_number,
    COALESCE(f.sum_ps, 0) AS copies_sum_ps,
    t.host_ps + COALESCE(f.sum_ps, 0) AS cost_ps
  FROM host_types AS t
  LEFT JOIN forced_types AS f ON f.source_id = t.source_id AND f.op_type = t.op_type
)

SELECT
  'medium' AS severity,
  CAST(t.cost_ps AS BIGINT) AS impact_ps,
  columns!(t, run_id, host_id, source_id, op_type),
  CAST(t.number AS BIGINT) AS runs,
  CAST(t.own_ps AS BIGINT) AS host_ps,
  CAST(t.copy_number AS BIGINT) AS copies,
  CAST(t.copies_sum_ps AS BIGINT) AS copies_ps,
  CASE
    WHEN t.copy_number = 0 THEN ''
    WHEN t.copy_number = 1 THEN ', 1 copy between it and the accelerator'
    ELSE CONCAT(', ', CAST(t.copy_number AS VARCHAR), ' copies between it and the accelerator')
  END AS with_copies,
  r.device,
  share!(r.sum_idle_ps, r.window_ps) AS idle_share
FROM costs AS t
INNER JOIN ranked AS r ON r.source_id = t.source_id AND r.place_in_list = 1
LEFT JOIN piped AS g ON g.piped_source = t.source_id AND g.piped_type = t.op_type
LEFT JOIN fetched AS h ON h.fetched_source = t.source_id
WHERE
  (COALESCE(g.grouped, 1) = 1 OR h.fetched_source IS NULL)
  AND r.window_ps > 0 AND r.sum_idle_ps * 5 >= r.window_ps AND t.cost_ps * 10 >= r.window_ps AND t.own_ps > 0
ORDER BY nulls_last!(t.cost_ps DESC, t.source_id, t.op_type)

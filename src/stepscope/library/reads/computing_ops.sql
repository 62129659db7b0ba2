-- Ops that compute
--
-- question: How long do the ops of each host compute, on devices and on its processors?
-- reads: rollup_op, track_place, track
-- notes: Ops of the input pipeline are left out, and calls of functions, whose ops are there by themselves.
-- columns:
--   run_id | text | run
--   host_id | text | host
--   place | text | device or host
--   op_type | text | type of the op
--   op_name | text | name of the op
--   name | text | name of its slices
--   class | text | compute, or python for ops that call Python
--   own_ps | ps | their own time
SELECT
  r.run_id, r.host_id, p.place, r.op_type, r.op_name, r.name, r.class,
  CAST(SUM(CASE WHEN r.op_self_ps IS NULL THEN r.self_ps ELSE r.op_self_ps END) AS BIGINT) AS own_ps
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id
INNER JOIN track AS t ON t.id = r.track_id
WHERE
  r.is_op
  AND r.class IN ('compute', 'python')
  AND p.place IN ('device', 'host')
  AND t.name NOT LIKE 'tf_data%'
  AND COALESCE(r.op_type, '') NOT LIKE '__inference_%'
  AND COALESCE(r.op_type, '') NOT LIKE '__forward_%'
  AND COALESCE(r.op_type, '') NOT LIKE '__backward_%'
GROUP BY r.run_id, r.host_id, p.place, r.op_type, r.op_name, r.name, r.class
ORDER BY
  r.run_id NULLS LAST, r.host_id NULLS LAST, p.place NULLS LAST, r.op_type NULLS LAST, r.op_name NULLS LAST,
  r.name NULLS LAST, r.class NULLS LAST

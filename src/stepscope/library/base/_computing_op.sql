-- Ops that compute, or call Python
--
-- question: How long does each kind of slice of such an op run, on devices and on hosts?
-- reads: rollup_op, track_place, track
-- notes: Ops of the input pipeline are left out, and calls of functions, whose ops are there by themselves.
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   place | text | Place | device or host
--   op_type | text | Op type | type of the op
--   op_name | text | Op | name of the op
--   name | text | Name | name of its slices
--   class | text | Class | compute, or python for ops that call Python
--   slices | int | Slices | how many
--   kind_ps | ps | Self | their self times, added up
SELECT
  r.run_id,
  r.host_id,
  p.place,
  r.op_type,
  r.op_name,
  r.name,
  r.class,
  r.slices,
  COALESCE(r.op_self_ps, r.self_ps) AS kind_ps
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

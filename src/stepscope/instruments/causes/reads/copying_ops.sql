-- How long do the types of ops of each host that copy on its processors take themselves?
--
-- reads: rollup_op, track_place
-- columns:
--   run_id, host_id
--   op_type | text | type of the op, else its name
--   op | text | an op of the type
--   own_ps | ps | their own time
WITH copying AS (
  SELECT
    columns!(r, run_id, host_id),
    COALESCE(r.op_type, r.op_name, r.name) AS kind,
    COALESCE(r.op_name, r.name) AS called,
    COALESCE(r.op_self_ps, r.self_ps) AS self_sum_ps
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.layer = 'copy' AND r.is_op AND p.place = 'host'
)

SELECT
  columns!(c, run_id, host_id),
  c.kind AS op_type,
  MAX(c.called) AS op,
  sum!(c.self_sum_ps) AS own_ps
FROM copying AS c
GROUP BY columns!(c, run_id, host_id, kind)
ORDER BY nulls_last!(c.run_id, c.host_id, own_ps DESC, c.kind)

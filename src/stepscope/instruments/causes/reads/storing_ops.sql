-- How long do ops of each host that write files, or to a stream, take on its processors?
--
-- reads: rollup_op, track_place
-- columns:
--   run_id, host_id
--   op | text | the op
--   op_type | text | its type, else its name
--   own_ps | ps | its own time in a mean run
WITH storing AS (
  SELECT
    columns!(r, run_id, host_id, op_name),
    COALESCE(r.op_type, r.op_name) AS kind,
    COALESCE(r.op_self_ps, r.self_ps) AS self_sum_ps,
    r.slices AS runs
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.layer = 'wait' AND r.is_op AND p.place = 'host' AND r.op_name IS NOT NULL AND r.slices > 0
)

SELECT
  columns!(s, run_id, host_id),
  s.op_name AS op,
  s.kind AS op_type,
  mean!(SUM(s.self_sum_ps), SUM(s.runs)) AS own_ps
FROM storing AS s
GROUP BY columns!(s, run_id, host_id, op_name, kind)
ORDER BY nulls_last!(s.run_id, s.host_id, own_ps DESC, s.op_name)

-- How much of the time of ops goes to those that compute again what JAX did not keep for gradients?
--
-- reads: rollup_op, track_place, hlo_instruction
-- notes: JAX writes all of them into a scope. Compiled programs may share the name of an instruction: it counts where
--   it is in that scope in each of them.
-- parameters: run_id, host_id
--   place | text | device or host
-- columns:
--   again_ps | ps | self times of these ops
--   all_ps | ps | self times of all ops that compute there
WITH instructions AS (
  SELECT
    h.name AS instruction,
    MIN(CASE WHEN h.op_name LIKE '%/rematted_computation/%' THEN 1 ELSE 0 END) AS is_again
  FROM hlo_instruction AS h
  WHERE h.run_id = $run_id AND (h.stage IS NULL OR h.stage LIKE '%after_optimizations%')
  GROUP BY h.name
)

SELECT
  CAST(SUM(COALESCE(r.op_self_ps, r.self_ps) * i.is_again) AS BIGINT) AS again_ps,
  CAST(SUM(COALESCE(r.op_self_ps, r.self_ps)) AS BIGINT) AS all_ps
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id AND p.place = $place
INNER JOIN instructions AS i ON i.instruction = r.op_name
WHERE r.run_id = $run_id AND r.host_id = $host_id AND r.is_op AND r.layer = 'compute'
HAVING SUM(COALESCE(r.op_self_ps, r.self_ps)) > 0
ORDER BY nulls_last!(again_ps, all_ps)

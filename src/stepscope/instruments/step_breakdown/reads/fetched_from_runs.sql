-- How many bytes did the runs of a session that were traced give back, all of them together?
--
-- reads: edge, op_run
-- columns:
--   run_id, host_id
--   fetched_bytes | bytes | bytes of all values that were fetched, as the ops that made them asked for them
WITH made AS (
  SELECT p.source_id, p.op_name, max(p.output_bytes) AS made_bytes
  FROM op_run AS p
  WHERE p.output_bytes IS NOT NULL
  GROUP BY p.source_id, p.op_name
)

SELECT r.run_id, r.host_id, sum!(m.made_bytes) AS fetched_bytes
FROM op_run AS r
INNER JOIN edge AS e ON e.source_id = r.source_id AND e.consumer = r.op_name
INNER JOIN made AS m ON m.source_id = r.source_id AND m.op_name = e.producer
WHERE r.op_type = '_Retval' AND e.graph LIKE 'partition/%'
GROUP BY r.run_id, r.host_id
ORDER BY nulls_last!(r.run_id, r.host_id)

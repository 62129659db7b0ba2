-- How long does each op of a run compute?
--
-- reads: rollup_op
-- parameters: run_id
-- columns:
--   op_name
--   own_ps | ps | its own time, executions added up
SELECT
  r.op_name,
  CAST(SUM(CASE WHEN r.op_self_ps IS NULL THEN r.self_ps ELSE r.op_self_ps END) AS BIGINT) AS own_ps
FROM rollup_op AS r
WHERE r.run_id = $run_id AND r.is_op AND r.op_name IS NOT NULL
GROUP BY r.op_name
ORDER BY r.op_name NULLS LAST

-- How long do ops of a host's input pipelines run, and how long those of them that call Python?
--
-- reads: rollup_op
-- parameters: run_id, host_id
-- columns:
--   python_ps | ps | own time of ops that call Python
--   all_ps | ps | that of all ops
SELECT
  CAST(COALESCE(SUM(CASE WHEN r.class = 'python' THEN r.op_self_ps ELSE 0 END), 0) AS BIGINT) AS python_ps,
  CAST(COALESCE(SUM(r.op_self_ps), 0) AS BIGINT) AS all_ps
FROM rollup_op AS r
WHERE r.run_id = $run_id AND r.host_id = $host_id AND r.layer = 'input work' AND r.is_op

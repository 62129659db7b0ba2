-- Python code runs inside the graph
--
-- question: How much time goes into tf.py_function and tf.numpy_function?
-- reads: op_sum, step_window
-- severity: high from 30 % of the window, medium from 5 %
-- impact: {op} ({op_type}) runs {runs} times and takes {impact_ps}, {share} of the window. Python
--   runs one at a time, whatever num_parallel_calls says.
-- action: Write it with TensorFlow ops, or do it once and store the result (cache, TFRecord). If it must be
--   Python, use several processes (tf.data service, or reading prepared files).
-- weakened_by: lost, capped, truncated
-- columns:
--   severity | text | Severity | high or medium
--   impact_ps | ps | In Python | durations, added up
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   op | text | Op | name of the op
--   op_type | text | Op type | EagerPyFunc, PyFunc or PyFuncStateless
--   runs | int | Runs | how often
--   share | ratio | Share of window | their time as part of the window; over 100 % when calls overlap
SELECT
  CASE WHEN o.sum_dur_ps * 10 >= (w.close_ps - w.open_ps) * 3 THEN 'high' ELSE 'medium' END AS severity,
  o.sum_dur_ps AS impact_ps,
  o.run_id,
  o.host_id,
  o.source_id,
  o.op,
  o.op_type,
  o.slices AS runs,
  CAST(o.sum_dur_ps AS DOUBLE) / NULLIF(w.close_ps - w.open_ps, 0) AS share
FROM op_sum AS o
INNER JOIN step_window AS w ON w.source_id = o.source_id
WHERE o.class = 'python' AND o.sum_dur_ps * 20 >= w.close_ps - w.open_ps AND o.sum_dur_ps > 0
ORDER BY o.sum_dur_ps DESC NULLS LAST, o.source_id NULLS LAST, o.op NULLS LAST

-- Which tf.function was traced for the longest time, over all calls that traced it?
--
-- reads: slice
-- parameters: run_id, host_id
-- columns:
--   name
--   spent_ps | ps | their durations
SELECT s.name, sum!(s.dur_ps) AS spent_ps
FROM slice AS s
WHERE s.run_id = $run_id AND s.host_id = $host_id AND s.args_json LIKE '%tf_function_call%traced%'
GROUP BY s.name
ORDER BY nulls_last!(spent_ps DESC, s.name)
LIMIT 1

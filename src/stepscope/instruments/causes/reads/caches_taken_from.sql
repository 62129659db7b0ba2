-- Of which caches of tf.data does `take` behind them draw some elements, and how many are there?
--
-- reads: user_stage
-- notes: One row for each pair of lines, and what the recorder knows of each: a JSON object.
-- parameters: run_id, host_id
-- columns:
--   position, line
--   cache_json | text | small arguments of the cache
--   take_json | text | those of `take`
SELECT c.position, c.line, c.args_json AS cache_json, t.args_json AS take_json
FROM user_stage AS c
INNER JOIN user_stage AS t
  ON
    t.run_id = c.run_id AND t.host_id = c.host_id AND t.source_id = c.source_id AND t.iterator = c.iterator
    AND t.position = c.position + 1
WHERE c.run_id = $run_id AND c.host_id = $host_id AND c.transformation = 'cache' AND t.transformation = 'take'
GROUP BY c.position, c.line, c.args_json, t.args_json
ORDER BY nulls_last!(c.position, c.line, c.args_json, t.args_json)

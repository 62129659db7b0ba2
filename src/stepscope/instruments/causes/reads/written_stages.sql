-- Which transformations of tf.data did the program on a host write, and in which lines?
--
-- reads: iterator, user_stage
-- notes: None where a pipeline keeps up: then the program does not wait for what they do.
-- parameters: run_id, host_id
-- columns:
--   transformation, file, line, function, args_json
SELECT columns!(u, transformation, file, line, function, args_json)
FROM user_stage AS u
WHERE
  u.run_id = $run_id AND u.host_id = $host_id
  AND NOT EXISTS (
    SELECT 1 AS found FROM iterator AS i
    WHERE i.run_id = u.run_id AND i.host_id = u.host_id AND i.verdict = 'not_input_bound'
  )
GROUP BY columns!(u, transformation, file, line, function, args_json)
ORDER BY nulls_last!(u.file, u.line, u.transformation, u.function, u.args_json)

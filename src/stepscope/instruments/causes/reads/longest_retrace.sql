-- Which function was compiled for longest within the steps of a host, and what was new about the calls?
--
-- reads: compilation, compilation_sum, _moment_step
-- notes: As the recorder saw it; the first time of each function does not count.
-- parameters: run_id, host_id
-- columns:
--   function, call_file, call_line, call_function, change, argument
--   was | text | what it was before
--   became | text | what it was in the last call
--   times, steps
--   all_ps | ps | durations of all such calls of any function within steps
WITH again AS (
  SELECT sum!(c.dur_ps) AS sum_ps
  FROM compilation AS c
  INNER JOIN _moment_step AS s ON s.what = 'compilation' AND s.moment_id = c.id
  WHERE c.run_id = $run_id AND c.host_id = $host_id AND c.change <> 'first'
)

SELECT
  c.function, c.call_file, c.call_line, c.call_function, c.change, c.argument, c.was, c.became, c.times, c.steps,
  a.sum_ps AS all_ps
FROM compilation_sum AS c
CROSS JOIN again AS a
WHERE c.run_id = $run_id AND c.host_id = $host_id AND c.change <> 'first' AND c.steps > 0
ORDER BY nulls_last!(c.total_ps DESC, c.function, c.call_file, c.call_line, c.change, c.argument)
LIMIT 1

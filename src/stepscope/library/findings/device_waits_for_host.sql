-- Lines of the program wait for the device
--
-- question: Which lines of the program wait until the device has done its work?
-- reads: device, _step_purpose, _busy_step
-- severity: medium from a quarter of the steps, low from a tenth
-- impact: {file}:{line} `{function}` waits for the device in {in_steps} {in_steps:step|steps}. Such lines take
--   {share} of the steps. Meanwhile nothing is launched, so the device has nothing to do afterwards: it is idle for
--   {idle_share} of the steps.
-- action: Call .numpy(), float() or block_until_ready() on results less often, such as every hundredth step, or on
--   results of the step before.
-- weakened_by: lost, capped, truncated, no-steps, stacks-capped
-- reasoning: Launching runs ahead of the device as long as nobody asks for a result. A line that does stops it: the
--   device is through with all its work when the next op is launched.
-- formula: waited = time of the samples of the thread that runs the steps, within the steps that averages include,
--   whose stack goes through .numpy(), __array__ and the like of TensorFlow, or through block_until_ready,
--   device_get and conversions of JAX, on hosts with an accelerator; idle = their time in step_part in which nothing
--   computes, communicates or is copied; impact = the lesser of both, since waiting for a busy device costs
--   nothing; share = waited / durations of these steps; idle_share likewise. Reported where impact is at least 0.1 of
--   them, medium from 0.25.
-- columns:
--   impact_ps | ps | Lost | time of the steps
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | time in such lines as part of the steps
--   idle_share | ratio | Device idle | time in which the device is idle as part of the steps
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line
--   line_ps | ps | Of the line | time there
--   in_steps | int | Steps | steps in which it was seen
WITH seen AS (
  SELECT
    columns!(p, run_id, host_id, place_file, place_line, place_function),
    COUNT(DISTINCT p.step_id) AS step_count,
    SUM(p.time_ps) AS sum_ps,
    SUM(SUM(p.time_ps)) OVER (PARTITION BY p.run_id, p.host_id) AS lines_ps
  FROM _step_purpose AS p
  WHERE p.purpose = 'device'
  GROUP BY columns!(p, run_id, host_id, place_file, place_line, place_function)
),

accelerated AS (
  SELECT d.run_id AS by_run, d.host_id AS by_host
  FROM device AS d
  WHERE d.kind IN ('gpu', 'tpu')
  GROUP BY d.run_id, d.host_id
),

lost AS (
  SELECT
    columns!(t, run_id, host_id, place_file, place_line, place_function, step_count, sum_ps, lines_ps),
    columns!(b, steps_ps, idle_ps),
    least!(t.lines_ps, b.idle_ps) AS lost_ps
  FROM seen AS t
  INNER JOIN accelerated AS a ON a.by_run = t.run_id AND a.by_host = t.host_id
  INNER JOIN _busy_step AS b ON b.run_id = t.run_id AND b.host_id = t.host_id
)

SELECT
  CASE WHEN l.lost_ps * 4 >= l.steps_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(l.lost_ps AS BIGINT) AS impact_ps,
  columns!(l, run_id, host_id),
  share!(l.lines_ps, l.steps_ps) AS share,
  share!(l.idle_ps, l.steps_ps) AS idle_share,
  l.place_file AS file,
  l.place_line AS line,
  l.place_function AS function,
  CAST(l.sum_ps AS BIGINT) AS line_ps,
  CAST(l.step_count AS BIGINT) AS in_steps
FROM lost AS l
WHERE l.lost_ps * 10 >= l.steps_ps AND l.sum_ps > 0
ORDER BY nulls_last!(l.lost_ps DESC, l.run_id, l.host_id, l.sum_ps DESC, l.place_file, l.place_line, l.place_function)

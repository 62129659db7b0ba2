-- Lines of the program wait for the device
--
-- question: Which lines of the program wait until the device has done its work?
-- reads: step, device, _step_purpose
-- severity: medium from a quarter of the steps, low from a tenth
-- impact: {file}:{line} `{function}` waits for the device in {in_steps} {in_steps:step|steps}. Such lines take
--   {share} of the steps; meanwhile nothing is launched, so the device has nothing to do afterwards.
-- action: Call .numpy(), float() or block_until_ready() on results less often, such as every hundredth step, or on
--   results of the step before.
-- weakened_by: lost, capped, truncated, no-steps, stacks-capped
-- reasoning: Launching runs ahead of the device as long as nobody asks for a result. A line that does stops it: the
--   device is through with all its work when the next op is launched.
-- formula: impact = time of the samples of the thread that runs the steps, within the steps that averages include,
--   whose stack goes through .numpy(), __array__ and the like of TensorFlow, or through block_until_ready,
--   device_get and conversions of JAX, on hosts with an accelerator; share = impact / durations of these steps.
--   Reported from 0.1, medium from 0.25.
-- columns:
--   severity | text | Severity | medium or low
--   impact_ps | ps | Waited | time of the steps
--   run_id | text | Run | run of the source
--   host_id | text | Host | host
--   share | ratio | Share of steps | that time as part of the steps
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line
--   line_ps | ps | Of the line | time there
--   in_steps | int | Steps | steps in which it was seen
WITH hosts AS (
  SELECT s.run_id AS of_run, s.host_id AS of_host, SUM(s.dur_ps) AS all_ps, COUNT(*) AS number
  FROM step AS s
  WHERE s.averaged AND s.recovered_from <> 'whole_capture'
  GROUP BY s.run_id, s.host_id
),

seen AS (
  SELECT
    p.run_id,
    p.host_id,
    p.place_file,
    p.place_line,
    p.place_function,
    COUNT(DISTINCT p.step_id) AS step_count,
    SUM(p.time_ps) AS sum_ps
  FROM _step_purpose AS p
  WHERE p.purpose = 'device'
  GROUP BY p.run_id, p.host_id, p.place_file, p.place_line, p.place_function
),

told AS (
  SELECT
    n.run_id,
    n.host_id,
    n.place_file,
    n.place_line,
    n.place_function,
    n.step_count,
    n.sum_ps,
    SUM(n.sum_ps) OVER (PARTITION BY n.run_id, n.host_id) AS lines_ps
  FROM seen AS n
),

accelerated AS (
  SELECT d.run_id AS by_run, d.host_id AS by_host
  FROM device AS d
  WHERE d.kind IN ('gpu', 'tpu')
  GROUP BY d.run_id, d.host_id
)

SELECT
  CASE WHEN t.lines_ps * 4 >= h.all_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(t.lines_ps AS BIGINT) AS impact_ps,
  t.run_id,
  t.host_id,
  CAST(t.lines_ps AS DOUBLE) / NULLIF(h.all_ps, 0) AS share,
  t.place_file AS file,
  t.place_line AS line,
  t.place_function AS function,
  CAST(t.sum_ps AS BIGINT) AS line_ps,
  CAST(t.step_count AS BIGINT) AS in_steps
FROM told AS t
INNER JOIN hosts AS h ON h.of_run = t.run_id AND h.of_host = t.host_id
INNER JOIN accelerated AS a ON a.by_run = t.run_id AND a.by_host = t.host_id
WHERE t.lines_ps * 10 >= h.all_ps AND t.sum_ps > 0
ORDER BY
  t.lines_ps DESC NULLS LAST, t.run_id NULLS LAST, t.host_id NULLS LAST, t.sum_ps DESC NULLS LAST,
  t.place_file NULLS LAST, t.place_line NULLS LAST, t.place_function NULLS LAST

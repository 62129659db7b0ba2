-- A model is loaded in the loop
--
-- question: Which lines load a model or make its layers during the steps, and how long does that take?
-- reads: step, _step_purpose
-- severity: high from half of the steps, medium from a quarter, low from a twentieth
-- impact: Loading or making a model takes {share} of the steps: most of it in {file}:{line} `{function}`, seen in
--   {in_steps} {in_steps:step|steps}.
-- action: Load the model once, before the loop, and keep it. What is compiled for it is compiled once, too, then.
-- weakened_by: lost, capped, truncated, no-steps, stacks-capped
-- reasoning: A model whose weights and code do not change between two steps need not be read again. One that is new
--   is traced and compiled as well, when it is first called.
-- formula: impact = time of the samples of the thread that runs the steps, within the steps that are judged,
--   whose stack goes through the code of TensorFlow, Keras or PyTorch that loads a model or makes its layers;
--   share = impact / durations of these steps. Reported from 0.05, medium from 0.25, high from 0.5.
-- columns:
--   impact_ps | ps | Loading models | time of the steps
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | that time as part of the steps
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line
--   line_ps | ps | Of the line | time there
--   in_steps | int | Steps | steps in which it was seen
WITH hosts AS (
  SELECT s.run_id AS of_run, s.host_id AS of_host, SUM(s.dur_ps) AS all_ps
  FROM step AS s
  WHERE s.averaged AND s.recovered_from <> 'whole_capture'
  GROUP BY s.run_id, s.host_id
),

seen AS (
  SELECT
    columns!(p, run_id, host_id, place_file, place_line, place_function),
    COUNT(DISTINCT p.step_id) AS step_count,
    SUM(p.time_ps) AS sum_ps,
    SUM(SUM(p.time_ps)) OVER (PARTITION BY p.run_id, p.host_id) AS lines_ps
  FROM _step_purpose AS p
  WHERE p.purpose = 'model'
  GROUP BY columns!(p, run_id, host_id, place_file, place_line, place_function)
)

SELECT
  CASE
    WHEN t.lines_ps * 2 >= h.all_ps THEN 'high'
    WHEN t.lines_ps * 4 >= h.all_ps THEN 'medium'
    ELSE 'low'
  END AS severity,
  CAST(least!(t.lines_ps, h.all_ps) AS BIGINT) AS impact_ps,
  columns!(t, run_id, host_id),
  share!(least!(t.lines_ps, h.all_ps), h.all_ps) AS share,
  t.place_file AS file,
  t.place_line AS line,
  t.place_function AS function,
  CAST(t.sum_ps AS BIGINT) AS line_ps,
  CAST(t.step_count AS BIGINT) AS in_steps
FROM seen AS t
INNER JOIN hosts AS h ON h.of_run = t.run_id AND h.of_host = t.host_id
WHERE t.lines_ps * 20 >= h.all_ps AND t.sum_ps > 0
ORDER BY nulls_last!(
  t.lines_ps DESC, t.run_id, t.host_id, t.sum_ps DESC, t.place_file, t.place_line, t.place_function
)

-- Python between the ops
--
-- question: On which lines of the program does Python run while no op does?
-- reads: _label_line, rollup_op
-- severity: high from half of the steps, medium from a quarter, low from a tenth
-- impact: No op runs for {share} of a step: Python does, {line_share} of it in {file}:{line} `{function}`.
-- action: Move this code out of the loop or into the compiled step, do it in NumPy or tf.data, or do it less
--   often where not every step needs it.
-- action_jax: Move this code out of the loop or into the jitted step, do it in NumPy for a whole batch at once, or do
--   it less often where not every step needs it.
-- action_pytorch: Move this code out of the loop or into the workers of a DataLoader, do it in NumPy or with tensors
--   for a whole batch at once, or do it less often where not every step needs it.
-- notes: Calls of a framework are other labels. Python that an op calls is that op's, and so is not between ops.
-- weakened_by: lost, capped, truncated, missing, stacks-capped
-- reasoning: While the program's own Python runs, nothing executes: it has not been launched yet. The samples of
--   the stack say which lines these are.
-- formula: impact = time labelled python in step_part, over the steps that averages include, less the time of ops
--   that call Python; share = impact / their durations; line_share = the line's part of that time, where
--   samples show lines. Reported from 0.1 where one is shown.
-- columns:
--   impact_ps | ps | Python | time of the steps in which Python ran and no op
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | Python as part of the steps
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line
--   line_share | ratio | Share of Python | part of that time in which that line runs
--   lines | int | Lines | lines that were seen
WITH called AS (
  SELECT r.run_id AS of_run, r.host_id AS of_host, SUM(r.self_ps) AS called_ps
  FROM rollup_op AS r
  WHERE r.layer = 'python'
  GROUP BY r.run_id, r.host_id
),

lines AS (
  SELECT
    columns!(l, run_id, host_id, steps_ps, file, line, function, line_ps),
    CASE
      WHEN c.called_ps IS NULL THEN l.label_ps
      WHEN c.called_ps >= l.label_ps THEN 0
      ELSE l.label_ps - c.called_ps
    END AS python_ps,
    SUM(l.line_ps) OVER (PARTITION BY l.run_id, l.host_id) AS lines_ps,
    COUNT(*) OVER (PARTITION BY l.run_id, l.host_id) AS line_count
  FROM _label_line AS l
  LEFT JOIN called AS c ON c.of_run = l.run_id AND c.of_host = l.host_id
  WHERE l.label = 'python' AND l.line_ps > 0
)

SELECT
  severity!(t.python_ps, t.steps_ps) AS severity,
  CAST(t.python_ps AS BIGINT) AS impact_ps,
  columns!(t, run_id, host_id),
  share!(t.python_ps, t.steps_ps) AS share,
  columns!(t, file, line, function),
  share!(t.line_ps, t.lines_ps) AS line_share,
  CAST(t.line_count AS BIGINT) AS lines
FROM lines AS t
WHERE t.python_ps * 10 >= t.steps_ps AND t.python_ps > 0
ORDER BY nulls_last!(t.python_ps DESC, t.run_id, t.host_id, t.line_ps DESC, t.file, t.line, t.function)

-- Python between the ops
--
-- question: On which lines of the program does Python run while no op does?
-- reads: _label_line, rollup_op, source, step
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
--   that call Python, where only some runs were traced as much in each step as in a traced run; share = impact /
--   their durations; line_share = the line's part of that time, where samples show lines. Reported from 0.1 where
--   one is shown.
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
WITH numbers AS (
  SELECT s.run_id AS steps_run, s.host_id AS steps_host, COUNT(*) AS number
  FROM step AS s
  WHERE s.averaged AND s.dur_ps > 0 AND s.recovered_from <> 'whole_capture'
  GROUP BY s.run_id, s.host_id
),

sums AS (
  SELECT
    columns!(r, run_id, host_id),
    SUM(r.self_ps) AS called_ps,
    COUNT(DISTINCT CASE WHEN o.of_session THEN r.source_id END) AS traced_runs,
    SUM(CASE WHEN o.of_session THEN 0 ELSE 1 END) AS others
  FROM rollup_op AS r
  INNER JOIN source AS o ON o.source_id = r.source_id
  WHERE r.layer = 'python'
  GROUP BY r.run_id, r.host_id
),

called AS (
  SELECT
    s.run_id AS of_run,
    s.host_id AS of_host,
    CASE
      WHEN s.others = 0 AND n.number > s.traced_runs
        THEN mean!(s.called_ps * n.number, s.traced_runs)
      ELSE s.called_ps
    END AS in_ops_ps
  FROM sums AS s
  INNER JOIN numbers AS n ON n.steps_run = s.run_id AND n.steps_host = s.host_id
),

lines AS (
  SELECT
    columns!(l, run_id, host_id, steps_ps, file, line, function, line_ps),
    CASE
      WHEN c.in_ops_ps IS NULL THEN l.label_ps
      WHEN c.in_ops_ps >= l.label_ps THEN 0
      ELSE l.label_ps - c.in_ops_ps
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

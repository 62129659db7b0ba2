-- Python between the ops
--
-- question: On which lines of the program does Python run while no op does?
-- reads: step, step_part, rollup_op, _step_python
-- severity: high from half of the steps, medium from a quarter, low from a tenth
-- impact: No op runs for {share} of a step: Python in {file}:{line} `{function}`, where {line_share} of the
--   samples of this time were taken.
-- action: Move this code out of the loop or into the compiled step, do it in NumPy or tf.data, or do it every
--   hundredth step.
-- action_jax: Move this code out of the loop or into the jitted step, do it in NumPy for a whole batch at once, or do
--   it every hundredth step.
-- action_pytorch: Move this code out of the loop or into the workers of a DataLoader, do it in NumPy or with tensors
--   for a whole batch at once, or do it every hundredth step.
-- notes: Samples within calls of a framework are left out, and those in which the thread did not run. Python that
--   an op calls is that op's, and so is not between ops.
-- weakened_by: lost, capped, truncated, missing, stacks-capped
-- reasoning: While the program's own Python runs, nothing executes: it has not been launched yet. The samples of
--   the stack say which lines these are.
-- formula: impact = time labelled python in step_part, over the steps that averages include, less the time of ops
--   that call Python; share = impact / their
--   durations; line_share = samples at the line / samples at all lines that are listed, of the thread that runs the
--   steps. Reported from 0.1 where samples show a line.
-- columns:
--   severity | text | Severity | high, medium or low
--   impact_ps | ps | Python | time of the steps in which Python ran and no op
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | Python as part of the steps
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line
--   line_share | ratio | Share of samples | samples there as part of those at all lines listed
--   samples | int | Samples | stack samples there
--   lines | int | Lines | lines that were seen
WITH parts AS (
  SELECT
    p.step_id,
    sum_where!(p.label = 'python', p.dur_ps) AS of_label_ps
  FROM step_part AS p
  GROUP BY p.step_id
),

labelled AS (
  SELECT s.run_id, s.host_id, SUM(s.dur_ps) AS all_ps, SUM(t.of_label_ps) AS labelled_ps
  FROM step AS s
  INNER JOIN parts AS t ON t.step_id = s.id
  WHERE s.averaged
  GROUP BY s.run_id, s.host_id
),

called AS (
  SELECT r.run_id, r.host_id, SUM(r.self_ps) AS called_ps
  FROM rollup_op AS r
  WHERE r.layer = 'python'
  GROUP BY r.run_id, r.host_id
),

hosts AS (
  SELECT
    columns!(l, run_id, host_id, all_ps),
    CASE
      WHEN c.called_ps IS NULL THEN l.labelled_ps
      WHEN c.called_ps >= l.labelled_ps THEN 0
      ELSE l.labelled_ps - c.called_ps
    END AS python_total
  FROM labelled AS l
  LEFT JOIN called AS c ON c.run_id = l.run_id AND c.host_id = l.host_id
),

seen AS (
  SELECT
    y.run_id AS of_run,
    y.host_id AS of_host,
    columns!(y, place_file, place_line, place_function),
    SUM(y.time_ps) AS line_ps,
    SUM(y.samples) AS number,
    SUM(SUM(y.time_ps)) OVER (PARTITION BY y.run_id, y.host_id) AS lines_ps,
    COUNT(*) OVER (PARTITION BY y.run_id, y.host_id) AS line_count
  FROM _step_python AS y
  WHERE
    y.told_by = 'samples'
    AND y.place_function IS NOT NULL
    AND (y.cpu_ps IS NULL OR (y.cpu_ps + COALESCE(y.queued_ps, 0)) * 10 >= y.time_ps)
    AND NOT (
      y.code <> 'program'
      AND (
        y.module LIKE 'tensorflow%' OR y.module LIKE 'keras%' OR y.module LIKE 'tf_keras%'
        OR y.module LIKE 'jax%' OR y.module LIKE 'torch%'
      )
    )
  GROUP BY columns!(y, run_id, host_id, place_file, place_line, place_function)
)

SELECT
  CASE
    WHEN h.python_total * 2 >= h.all_ps THEN 'high'
    WHEN h.python_total * 4 >= h.all_ps THEN 'medium'
    ELSE 'low'
  END AS severity,
  CAST(h.python_total AS BIGINT) AS impact_ps,
  columns!(h, run_id, host_id),
  share!(h.python_total, h.all_ps) AS share,
  t.place_file AS file,
  t.place_line AS line,
  t.place_function AS function,
  share!(t.line_ps, t.lines_ps) AS line_share,
  CAST(t.number AS BIGINT) AS samples,
  CAST(t.line_count AS BIGINT) AS lines
FROM hosts AS h
INNER JOIN seen AS t ON t.of_run = h.run_id AND t.of_host = h.host_id
WHERE h.python_total * 10 >= h.all_ps AND h.python_total > 0 AND t.line_ps > 0
ORDER BY nulls_last!(
  h.python_total DESC, h.run_id, h.host_id, t.line_ps DESC, t.place_file, t.place_line, t.place_function
)

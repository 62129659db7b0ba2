-- The program sleeps or waits in its loop
--
-- question: On which lines of the program do the steps wait for time, locks, files or sockets?
-- reads: _label_line, _step_purpose, rollup_op
-- severity: high from half of the steps, medium from a quarter, low from a tenth
-- impact: Sleeping and waiting takes {share} of the steps, {line_share} of that in {file}:{line} `{function}`.
-- action: {advice}
-- notes: Lines that store or log are left out: `per-step-io` has them.
-- weakened_by: lost, capped, truncated, no-steps, stacks-capped
-- reasoning: While the thread that runs the steps sleeps, or waits for a lock, a file or another machine, nothing is
--   launched, and no core works for the program.
-- formula: impact = time labelled wait in step_part while the thread that runs the steps is in lines that neither
--   store nor log, over the steps that averages include; share = impact / their durations; line_share = the part of
--   it in that line. Reported from 0.1.
-- columns:
--   impact_ps | ps | Waiting | time of the steps
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | that time as part of the steps
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line
--   line_share | ratio | Share of waiting | part of that time in which that line runs
--   advice | text | Advice | what to do, where ops of a graph wait and where the program does
WITH storing AS (
  SELECT p.run_id AS of_run, p.host_id AS of_host, p.place_file, p.place_line
  FROM _step_purpose AS p
  GROUP BY columns!(p, run_id, host_id, place_file, place_line)
),

waiting AS (
  SELECT
    columns!(l, run_id, host_id, steps_ps, file, line, function, line_ps),
    SUM(l.line_ps) OVER (PARTITION BY l.run_id, l.host_id) AS all_ps
  FROM _label_line AS l
  LEFT JOIN storing AS s
    ON s.of_run = l.run_id AND s.of_host = l.host_id AND s.place_file = l.file AND s.place_line = l.line
  WHERE l.label = 'wait' AND l.line_ps > 0 AND s.of_run IS NULL
),

printing AS (
  SELECT
    r.run_id AS by_run,
    r.host_id AS by_host,
    sum_where!(r.op_type LIKE 'Print%', r.self_ps) AS print_ps,
    SUM(r.self_ps) AS op_ps
  FROM rollup_op AS r
  WHERE r.layer = 'wait'
  GROUP BY r.run_id, r.host_id
)

SELECT
  severity!(w.all_ps, w.steps_ps) AS severity,
  CAST(w.all_ps AS BIGINT) AS impact_ps,
  columns!(w, run_id, host_id),
  share!(w.all_ps, w.steps_ps) AS share,
  columns!(w, file, line, function),
  share!(w.line_ps, w.all_ps) AS line_share,
  CASE
    WHEN p.print_ps * 2 >= p.op_ps
      THEN CONCAT(
        'An op of the graph prints (tf.Print, tf.print), and what takes its output waits until all is written. ',
        'Leave it out, print fewer numbers, or fetch them every hundredth step and print them in Python.'
      )
    ELSE CONCAT(
      'Let another thread do it while the next steps run, ask for more at once, or do it less often where not every ',
      'step needs it.'
    )
  END AS advice
FROM waiting AS w
LEFT JOIN printing AS p ON p.by_run = w.run_id AND p.by_host = w.host_id
WHERE w.all_ps * 10 >= w.steps_ps
ORDER BY nulls_last!(w.all_ps DESC, w.run_id, w.host_id, w.line_ps DESC, w.file, w.line, w.function)

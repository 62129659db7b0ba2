-- How much of the steps does each label take, and on which lines?
--
-- reads: step, step_part, _stack_time, stack, frame
-- notes: A label without samples has one row without a line. Whole captures that stand for a step are left out.
-- columns:
--   run_id, host_id, label
--   steps_ps | ps | their durations, added up
--   label_ps | ps | what counts to the label in them
--   file, line, function
--   line_ps | ps | time of the label while the thread that runs the steps is there
WITH judged AS (
  SELECT s.id, s.run_id, s.host_id, s.dur_ps
  FROM step AS s
  WHERE s.averaged AND s.dur_ps > 0 AND s.recovered_from <> 'whole_capture'
),

hosts AS (
  SELECT j.run_id AS of_run, j.host_id AS of_host, SUM(j.dur_ps) AS all_ps
  FROM judged AS j
  GROUP BY j.run_id, j.host_id
),

labels AS (
  SELECT j.run_id, j.host_id, p.label, SUM(p.dur_ps) AS label_sum
  FROM step_part AS p
  INNER JOIN judged AS j ON j.id = p.step_id
  GROUP BY j.run_id, j.host_id, p.label
),

told AS (
  SELECT
    t.run_id AS in_run,
    t.host_id AS in_host,
    t.label AS of_label,
    columns!(f, file, line, function),
    SUM(t.stack_ps) AS line_sum
  FROM _stack_time AS t
  INNER JOIN stack AS k ON k.id = t.stack_id
  INNER JOIN frame AS f ON f.id = k.place_id
  GROUP BY t.run_id, t.host_id, t.label, f.file, f.line, f.function
)

SELECT
  columns!(l, run_id, host_id, label),
  CAST(h.all_ps AS BIGINT) AS steps_ps,
  CAST(l.label_sum AS BIGINT) AS label_ps,
  columns!(t, file, line, function),
  CAST(t.line_sum AS BIGINT) AS line_ps
FROM labels AS l
INNER JOIN hosts AS h ON h.of_run = l.run_id AND h.of_host = l.host_id
LEFT JOIN told AS t ON t.in_run = l.run_id AND t.in_host = l.host_id AND t.of_label = l.label

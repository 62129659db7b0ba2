-- What does the thread that runs the steps do, while they count to each label?
--
-- reads: step, step_part, stack_part
-- notes: On a host where averages include no step, all steps are here. Samples of stacks may not cover a step, so the
--   stacks of a label add up to no more than the label.
-- columns:
--   run_id, host_id, label, stack_id
--   stack_ps | ps | time that counts to the label while the thread has the stack
--   number | int | how many steps of the host count
--   steps_ps | ps | their durations, added up
--   label_ps | ps | what counts to the label in them
WITH judged AS (
  SELECT
    columns!(s, id, run_id, host_id, dur_ps),
    CASE WHEN s.averaged THEN 1 ELSE 0 END AS counts,
    MAX(CASE WHEN s.averaged THEN 1 ELSE 0 END) OVER (PARTITION BY s.run_id, s.host_id) AS any_counts
  FROM step AS s
  WHERE s.dur_ps > 0
),

hosts AS (
  SELECT j.run_id AS of_run, j.host_id AS of_host, COUNT(*) AS number, SUM(j.dur_ps) AS steps_sum
  FROM judged AS j
  WHERE j.counts = j.any_counts
  GROUP BY j.run_id, j.host_id
),

labels AS (
  SELECT j.run_id AS in_run, j.host_id AS in_host, p.label AS of_label, SUM(p.dur_ps) AS label_sum
  FROM step_part AS p
  INNER JOIN judged AS j ON j.id = p.step_id AND j.counts = j.any_counts
  GROUP BY j.run_id, j.host_id, p.label
),

stacks AS (
  SELECT j.run_id, j.host_id, k.label, k.stack_id, SUM(k.dur_ps) AS stack_sum
  FROM stack_part AS k
  INNER JOIN judged AS j ON j.id = k.step_id AND j.counts = j.any_counts
  GROUP BY j.run_id, j.host_id, k.label, k.stack_id
)

SELECT
  columns!(k, run_id, host_id, label, stack_id),
  CAST(k.stack_sum AS BIGINT) AS stack_ps,
  h.number,
  CAST(h.steps_sum AS BIGINT) AS steps_ps,
  CAST(l.label_sum AS BIGINT) AS label_ps
FROM stacks AS k
INNER JOIN hosts AS h ON h.of_run = k.run_id AND h.of_host = k.host_id
INNER JOIN labels AS l ON l.in_run = k.run_id AND l.in_host = k.host_id AND l.of_label = k.label

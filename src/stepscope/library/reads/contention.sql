-- Whether a program had the cores that it wanted
--
-- question: How many threads of a host's program ran while steps were recorded, and how many waited for a core?
-- reads: counter, stack_sample
-- notes: As the kernel counts it, of captures by `stepscope record`. NULL where nobody says.
-- parameters:
--   run_id | text | run
--   host_id | text | host
-- columns:
--   running | float | threads that ran, on average
--   waiting | float | threads that waited for a core, on average
--   sampled_ps | ps | time in which the thread that runs the steps was sampled and its clocks are known
--   active_ps | ps | for how much of it that thread ran, or could have and had no core
WITH threads AS (
  SELECT c.source_id, c.series, AVG(c.value) AS number
  FROM counter AS c
  WHERE
    c.run_id = $run_id
    AND c.host_id = $host_id
    AND c.name = 'threads during recording'
    AND c.series <> 'process running'
  GROUP BY c.source_id, c.series
),

counted AS (
  SELECT
    SUM(CASE WHEN t.series LIKE '% running' THEN t.number END) AS running,
    SUM(CASE WHEN t.series LIKE '% waiting' THEN t.number END) AS waiting
  FROM threads AS t
),

sampled AS (
  SELECT SUM(m.weight_ps) AS sampled_sum, SUM(m.cpu_ps + m.queued_ps) AS active_sum
  FROM stack_sample AS m
  WHERE m.run_id = $run_id AND m.host_id = $host_id AND m.is_main AND m.cpu_ps IS NOT NULL AND m.queued_ps IS NOT NULL
)

SELECT
  n.running,
  n.waiting,
  CAST(s.sampled_sum AS BIGINT) AS sampled_ps,
  CAST(s.active_sum AS BIGINT) AS active_ps
FROM counted AS n
CROSS JOIN sampled AS s

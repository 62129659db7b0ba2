-- Whether a program had the cores that it wanted
--
-- question: How many threads of each host's program ran while steps were recorded, and how many waited for a core?
-- reads: counter, stack_sample
-- notes: As the kernel counts it, of captures by `stepscope record`. NULL where nobody says; a host of which nothing is known has no row.
-- columns:
--   run_id | text | run
--   host_id | text | host
--   running | float | threads that ran, on average
--   waiting | float | threads that waited for a core, on average
--   sampled_ps | ps | time in which the thread that runs the steps was sampled and its clocks are known
--   active_ps | ps | for how much of it that thread ran, or could have and had no core
WITH threads AS (
  SELECT c.run_id, c.host_id, c.source_id, c.series, AVG(c.value) AS number
  FROM counter AS c
  WHERE c.name = 'threads during recording' AND c.series <> 'process running'
  GROUP BY c.run_id, c.host_id, c.source_id, c.series
),

told AS (
  SELECT
    t.run_id,
    t.host_id,
    CASE WHEN t.series LIKE '% running' THEN t.number END AS running_one,
    CASE WHEN t.series LIKE '% waiting' THEN t.number END AS waiting_one,
    CAST(NULL AS BIGINT) AS sampled_one,
    CAST(NULL AS BIGINT) AS active_one
  FROM threads AS t
  UNION ALL
  SELECT
    m.run_id,
    m.host_id,
    CAST(NULL AS DOUBLE) AS running_one,
    CAST(NULL AS DOUBLE) AS waiting_one,
    m.weight_ps AS sampled_one,
    m.cpu_ps + m.queued_ps AS active_one
  FROM stack_sample AS m
  WHERE m.is_main AND m.cpu_ps IS NOT NULL AND m.queued_ps IS NOT NULL
)

SELECT
  o.run_id,
  o.host_id,
  SUM(o.running_one) AS running,
  SUM(o.waiting_one) AS waiting,
  CAST(SUM(o.sampled_one) AS BIGINT) AS sampled_ps,
  CAST(SUM(o.active_one) AS BIGINT) AS active_ps
FROM told AS o
GROUP BY o.run_id, o.host_id
ORDER BY o.run_id NULLS LAST, o.host_id NULLS LAST

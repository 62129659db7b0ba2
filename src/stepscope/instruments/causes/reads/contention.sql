-- How many threads of each host's program ran while steps were recorded, and how many waited for a core?
--
-- reads: counter, stack_part, stack_sample
-- notes: As the kernel counts it, of captures by `stepscope record`. NULL where nobody says; a host of which nothing is
--   known has no row.
-- columns:
--   run_id, host_id
--   running | float | threads that ran, on average
--   waiting | float | threads that waited for a core, on average
--   later | float | threads made with the iterators, or after, that ran or waited, on average
--   cores | int | cores of the machine
--   children | float | cores that processes had which the program started, on average
--   launching_ps | ps | time in which the thread that runs the steps was sampled while it launched ops
--   launching_ran_ps | ps | for how much of it that thread ran
--   launching_queued_ps | ps | for how much of it that thread could have run and had no core
WITH launching AS (
  SELECT
    p.stack_id,
    CAST(sum_where!(p.label = 'dispatch', p.dur_ps) AS DOUBLE) / SUM(p.dur_ps) AS share
  FROM stack_part AS p
  WHERE p.dur_ps > 0
  GROUP BY p.stack_id
),

measured AS (
  SELECT
    columns!(c, run_id, host_id, name, series),
    AVG(c.value) AS number,
    CAST(NULL AS DOUBLE) AS launching_one,
    CAST(NULL AS DOUBLE) AS ran_one,
    CAST(NULL AS DOUBLE) AS queued_one
  FROM counter AS c
  WHERE c.name IN ('threads during recording', 'children cpu', 'core busy') AND c.series <> 'process running'
  GROUP BY columns!(c, run_id, host_id, source_id, name, series)
  UNION ALL
  SELECT
    columns!(m, run_id, host_id),
    'launching' AS name,
    '' AS series,
    CAST(NULL AS DOUBLE) AS number,
    m.weight_ps * l.share AS launching_one,
    m.cpu_ps * l.share AS ran_one,
    m.queued_ps * l.share AS queued_one
  FROM stack_sample AS m
  INNER JOIN launching AS l ON l.stack_id = m.stack_id
  WHERE m.is_main AND m.cpu_ps IS NOT NULL AND m.queued_ps IS NOT NULL
)

SELECT
  columns!(o, run_id, host_id),
  SUM(CASE WHEN o.series LIKE '% running' THEN o.number END) AS running,
  SUM(CASE WHEN o.series LIKE '% waiting' THEN o.number END) AS waiting,
  SUM(CASE WHEN o.series LIKE 'later %' THEN o.number END) AS later,
  NULLIF(COUNT(DISTINCT CASE WHEN o.name = 'core busy' THEN o.series END), 0) AS cores,
  SUM(CASE WHEN o.name = 'children cpu' THEN o.number END) AS children,
  sum!(o.launching_one) AS launching_ps,
  sum!(o.ran_one) AS launching_ran_ps,
  sum!(o.queued_one) AS launching_queued_ps
FROM measured AS o
GROUP BY o.run_id, o.host_id
ORDER BY nulls_last!(o.run_id, o.host_id)

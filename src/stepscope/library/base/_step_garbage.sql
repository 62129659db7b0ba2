-- How much of the steps does Python's garbage collection take?
--
-- reads: counter, step, capture
-- notes: Collections of the thread that runs the steps, from a tenth of a millisecond on, as a recorder saw them. They
--   are compared with the steps by the time of day; those of a source that does not know it, with its own steps. Whole
--   captures that stand for a step are left out.
-- columns:
--   run_id, host_id
--   steps | int | averaged steps
--   steps_ps | ps | their durations, added up
--   collections | int | collections that began within them
--   whole_ones | int | those of them that went through all objects
--   garbage_ps | ps | what these collections took of the steps
WITH origins AS (
  SELECT
    c.source_id,
    CASE WHEN c.origin_unix_ns IS NULL THEN c.source_id ELSE -1 END AS clock_id,
    COALESCE(
      (CAST(c.origin_unix_ns AS DOUBLE) - CAST(MIN(c.origin_unix_ns) OVER () AS DOUBLE)) * 1000.0, 0.0
    ) AS origin_ps
  FROM capture AS c
),

judged AS (
  SELECT columns!(s, run_id, host_id, dur_ps), o.clock_id, o.origin_ps + s.ts_ps AS begin_ps
  FROM step AS s
  INNER JOIN origins AS o ON o.source_id = s.source_id
  WHERE s.averaged AND s.dur_ps > 0 AND s.recovered_from <> 'whole_capture'
),

moments AS (
  SELECT
    columns!(j, run_id, host_id, clock_id, begin_ps),
    0 AS collects,
    j.begin_ps + j.dur_ps AS end_ps,
    0.0 AS lasts_ps,
    0 AS whole
  FROM judged AS j
  UNION ALL
  SELECT
    columns!(g, run_id, host_id),
    o.clock_id,
    o.origin_ps + g.ts_ps AS begin_ps,
    1 AS collects,
    NULL AS end_ps,
    g.value * 1000.0 AS lasts_ps,
    CASE WHEN g.series = 'generation 2' THEN 1 ELSE 0 END AS whole
  FROM counter AS g
  INNER JOIN origins AS o ON o.source_id = g.source_id
  WHERE g.name = 'garbage collection' AND g.value > 0.0 AND g.value < 1.0e15
),

-- One that begins within a step may end after it.
placed AS (
  SELECT
    columns!(m, run_id, host_id, collects, whole, lasts_ps),
    MAX(m.end_ps) OVER (
      PARTITION BY m.run_id, m.host_id, m.clock_id
      ORDER BY m.begin_ps NULLS LAST, m.collects NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) - m.begin_ps AS left_ps
  FROM moments AS m
),

sums AS (
  SELECT
    p.run_id AS in_run,
    p.host_id AS in_host,
    COUNT(*) AS number,
    sum!(p.whole) AS of_all_objects,
    whole!(SUM(least!(p.lasts_ps, p.left_ps))) AS sum_ps
  FROM placed AS p
  WHERE p.collects = 1 AND p.left_ps > 0.0
  GROUP BY p.run_id, p.host_id
)

SELECT
  columns!(j, run_id, host_id),
  COUNT(*) AS steps,
  sum!(j.dur_ps) AS steps_ps,
  MAX(m.number) AS collections,
  MAX(m.of_all_objects) AS whole_ones,
  MAX(m.sum_ps) AS garbage_ps
FROM judged AS j
INNER JOIN sums AS m ON m.in_run = j.run_id AND m.in_host = j.host_id
GROUP BY j.run_id, j.host_id

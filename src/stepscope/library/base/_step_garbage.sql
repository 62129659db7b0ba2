-- How much of the steps does Python's garbage collection take?
--
-- reads: counter, step, capture
-- notes: Collections of the thread that runs the steps, from a tenth of a millisecond on, as a recorder saw them. They
--   are compared with the steps by the time of day. Whole captures that stand for a step are left out.
-- columns:
--   run_id, host_id
--   steps | int | averaged steps
--   steps_ps | ps | their durations, added up
--   collections | int | collections that began within them
--   whole_ones | int | those of them that went through all objects
--   garbage_ps | ps | what these collections took of the steps
WITH judged AS (
  SELECT
    columns!(s, id, run_id, host_id, source_id, dur_ps),
    s.ts_ps AS from_ps,
    c.origin_unix_ns AS origin_ns
  FROM step AS s
  INNER JOIN capture AS c ON c.source_id = s.source_id
  WHERE s.averaged AND s.dur_ps > 0 AND s.recovered_from <> 'whole_capture'
),

seen AS (
  SELECT
    columns!(g, run_id, host_id, source_id, ts_ps, series),
    c.origin_unix_ns AS origin_ns,
    whole!(g.value * 1000.0) AS took_ps
  FROM counter AS g
  INNER JOIN capture AS c ON c.source_id = g.source_id
  WHERE g.name = 'garbage collection' AND g.value > 0.0 AND g.value < 1.0e15
),

within AS (
  SELECT
    j.id AS step_id,
    columns!(j, run_id, host_id),
    columns!(g, series, took_ps),
    g.ts_ps + CASE WHEN g.source_id = j.source_id THEN 0 ELSE (g.origin_ns - j.origin_ns) * 1000 END - j.from_ps
      AS after_ps,
    j.dur_ps
  FROM judged AS j
  INNER JOIN seen AS g ON g.run_id = j.run_id AND g.host_id = j.host_id
),

sums AS (
  SELECT
    w.run_id AS in_run,
    w.host_id AS in_host,
    COUNT(*) AS number,
    sum_where!(w.series = 'generation 2', 1) AS of_all_objects,
    SUM(least!(w.took_ps, w.dur_ps - w.after_ps)) AS sum_ps
  FROM within AS w
  WHERE w.after_ps >= 0 AND w.after_ps < w.dur_ps
  GROUP BY w.run_id, w.host_id
)

SELECT
  columns!(j, run_id, host_id),
  COUNT(*) AS steps,
  sum!(j.dur_ps) AS steps_ps,
  MAX(m.number) AS collections,
  CAST(MAX(m.of_all_objects) AS BIGINT) AS whole_ones,
  CAST(MAX(m.sum_ps) AS BIGINT) AS garbage_ps
FROM judged AS j
INNER JOIN sums AS m ON m.in_run = j.run_id AND m.in_host = j.host_id
GROUP BY j.run_id, j.host_id

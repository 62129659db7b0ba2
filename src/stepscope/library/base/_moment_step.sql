-- During which step was a sample taken, or a function traced or compiled?
--
-- reads: stack_sample, compilation, step_stored, capture
-- notes: The step in which its middle lies, of the same run and host, if clocks can be compared: times are in
--   picoseconds, as doubles. What lies outside of steps is not here, nor are steps without a duration and whole
--   captures.
-- columns:
--   what | text | sample or compilation
--   moment_id | int | number of the sample or compilation
--   step_id | int | row of the view step
WITH steps AS (
  SELECT
    s.id AS of_step,
    s.run_id AS of_run,
    s.host_id AS of_host,
    s.source_id AS of_source,
    CAST(c.origin_unix_ns AS DOUBLE) * 1000.0 AS step_origin,
    CAST(s.ts_ps AS DOUBLE) AS begin_at,
    CAST(s.ts_ps AS DOUBLE) + CAST(s.dur_ps AS DOUBLE) AS end_at
  FROM step_stored AS s
  INNER JOIN capture AS c ON c.source_id = s.source_id
  WHERE s.recovered_from <> 'whole_capture' AND s.dur_ps > 0
),

recorded AS (
  SELECT 'sample' AS what, m.id, m.run_id, m.host_id, m.source_id, m.ts_ps, m.weight_ps AS length_ps
  FROM stack_sample AS m
  UNION ALL
  SELECT 'compilation' AS what, m.id, m.run_id, m.host_id, m.source_id, m.ts_ps, m.dur_ps AS length_ps
  FROM compilation AS m
),

moments AS (
  SELECT
    columns!(r, what, id, run_id, host_id, source_id),
    CAST(c.origin_unix_ns AS DOUBLE) * 1000.0 AS moment_origin,
    CAST(r.ts_ps AS DOUBLE) + CAST(r.length_ps AS DOUBLE) * 0.5 AS middle
  FROM recorded AS r
  INNER JOIN capture AS c ON c.source_id = r.source_id
)

SELECT m.what, m.id AS moment_id, MIN(s.of_step) AS step_id
FROM moments AS m
INNER JOIN steps AS s
  ON s.of_run = m.run_id
  AND s.of_host = m.host_id
  AND CASE WHEN s.of_source = m.source_id THEN m.middle ELSE m.middle + (m.moment_origin - s.step_origin) END
  >= s.begin_at
  AND CASE WHEN s.of_source = m.source_id THEN m.middle ELSE m.middle + (m.moment_origin - s.step_origin) END
  < s.end_at
GROUP BY m.what, m.id

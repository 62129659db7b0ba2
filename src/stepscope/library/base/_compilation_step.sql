-- The step in which something was traced or compiled
--
-- question: During which step was a function traced or compiled?
-- reads: compilation, _step_span, capture
-- notes: The step in which its middle lies, of the same run and host, if clocks can be compared. What was compiled
--   outside of steps is not here.
-- columns:
--   compilation_id | int | Compilation | number of the compilation
--   step_id | int | Step row | row of the view step
WITH compiled AS (
  SELECT
    m.id AS made_id,
    m.run_id,
    m.host_id,
    m.source_id,
    CAST(c.origin_unix_ns AS DOUBLE) * 1000.0 AS made_origin,
    CAST(m.ts_ps AS DOUBLE) + CAST(m.dur_ps AS DOUBLE) * 0.5 AS middle
  FROM compilation AS m
  INNER JOIN capture AS c ON c.source_id = m.source_id
)

SELECT l.made_id AS compilation_id, MIN(p.span_id) AS step_id
FROM compiled AS l
INNER JOIN _step_span AS p
  ON p.span_run = l.run_id
  AND p.span_host = l.host_id
  AND CASE WHEN p.span_source = l.source_id THEN l.middle ELSE l.middle + (l.made_origin - p.span_origin) END
  >= p.begin_at
  AND CASE WHEN p.span_source = l.source_id THEN l.middle ELSE l.middle + (l.made_origin - p.span_origin) END
  < p.end_at
GROUP BY l.made_id

-- The step in which a sample of a stack lies
--
-- question: During which step was a sample taken?
-- reads: stack_sample, _step_span, capture
-- notes: The step in which its middle lies, of the same run and host, if clocks can be compared. Samples outside of
--   steps are not here.
-- columns:
--   sample_id | int | Sample | number of the sample
--   step_id | int | Step row | row of the view step
WITH looked AS (
  SELECT
    m.id AS look_id,
    m.run_id,
    m.host_id,
    m.source_id,
    CAST(c.origin_unix_ns AS DOUBLE) * 1000.0 AS look_origin,
    CAST(m.ts_ps AS DOUBLE) + CAST(m.weight_ps AS DOUBLE) * 0.5 AS middle
  FROM stack_sample AS m
  INNER JOIN capture AS c ON c.source_id = m.source_id
)

SELECT l.look_id AS sample_id, MIN(p.span_id) AS step_id
FROM looked AS l
INNER JOIN _step_span AS p
  ON p.span_run = l.run_id
  AND p.span_host = l.host_id
  AND CASE WHEN p.span_source = l.source_id THEN l.middle ELSE l.middle + (l.look_origin - p.span_origin) END
  >= p.begin_at
  AND CASE WHEN p.span_source = l.source_id THEN l.middle ELSE l.middle + (l.look_origin - p.span_origin) END
  < p.end_at
GROUP BY l.look_id

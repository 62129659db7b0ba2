-- Steps in the time of day
--
-- question: When did each step begin and end, from the origin of its source, and when was that?
-- reads: step, capture
-- notes: For comparing what other sources of the same run and host recorded; times are in picoseconds, as doubles.
--   Steps without a duration and whole captures are not here.
-- columns:
--   span_id | int | Step row | row of the view step
--   span_run | text | Run | run of the source
--   span_host | text | Host | host of the source
--   span_source | int | Source | source it was recovered from
--   span_origin | float | Origin | Unix time of the source's origin in picoseconds; NULL when the file does not say
--   begin_at | float | Start | start, from the capture's origin
--   end_at | float | End | end, from the capture's origin
SELECT
  s.id AS span_id,
  s.run_id AS span_run,
  s.host_id AS span_host,
  s.source_id AS span_source,
  CAST(c.origin_unix_ns AS DOUBLE) * 1000.0 AS span_origin,
  CAST(s.ts_ps AS DOUBLE) AS begin_at,
  CAST(s.ts_ps AS DOUBLE) + CAST(s.dur_ps AS DOUBLE) AS end_at
FROM step AS s
INNER JOIN capture AS c ON c.source_id = s.source_id
WHERE s.recovered_from <> 'whole_capture' AND s.dur_ps > 0

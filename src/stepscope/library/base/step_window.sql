-- The stretch of a source that is judged
--
-- question: From when to when do shares of time count?
-- reads: step
-- notes: From the start of the first step that averages include to the end of the last one; where
--   there is none, over all steps or the whole capture.
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   steps | int | Steps | steps that averages include
--   open_ps | ps | Begin | from here, counted from the capture's origin
--   close_ps | ps | Until | to here
--   steps_ps | ps | In steps | durations of the steps that averages include
WITH chosen AS (
  SELECT
    s.run_id,
    s.host_id,
    s.source_id,
    SUM(CASE WHEN s.averaged THEN 1 ELSE 0 END) AS kept,
    MIN(CASE WHEN s.averaged THEN s.ts_ps END) AS kept_open_ps,
    MAX(CASE WHEN s.averaged THEN s.ts_ps + s.dur_ps END) AS kept_close_ps,
    SUM(CASE WHEN s.averaged THEN s.dur_ps ELSE 0 END) AS kept_ps,
    MIN(s.ts_ps) AS all_open_ps,
    MAX(s.ts_ps + s.dur_ps) AS all_close_ps
  FROM step AS s
  GROUP BY s.run_id, s.host_id, s.source_id
)

SELECT
  c.run_id,
  c.host_id,
  c.source_id,
  CAST(c.kept AS BIGINT) AS steps,
  COALESCE(c.kept_open_ps, c.all_open_ps) AS open_ps,
  COALESCE(c.kept_close_ps, c.all_close_ps) AS close_ps,
  CAST(c.kept_ps AS BIGINT) AS steps_ps
FROM chosen AS c

-- The stretch of a source that is judged
--
-- question: From when to when do shares of time count?
-- reads: step, observed
-- notes: From the start of the first step that averages include to the end of the last one; where
--   there is none, over all steps or the whole capture. Shares are parts of window_ps, which leaves out
--   what was never recorded between steps that are recordings of their own, as `observed` explains.
-- columns:
--   run_id, host_id, source_id
--   steps | int | Steps | steps that averages include
--   open_ps | ps | Begin | from here, counted from the capture's origin
--   close_ps | ps | Until | to here
--   window_ps | ps | Window | time recorded in between
--   steps_ps | ps | In steps | durations of the steps that averages include
--   apart | bool | Apart | true where each step is a recording of its own
WITH averages AS (
  SELECT
    s.source_id,
    sum_where!(s.averaged, 1) AS kept,
    sum_where!(s.averaged, s.dur_ps) AS kept_ps
  FROM step AS s
  GROUP BY s.source_id
),

windows AS (
  SELECT
    columns!(o, run_id, host_id, source_id),
    MIN(o.open_ps) AS first_ps,
    MAX(o.close_ps) AS last_ps,
    SUM(o.close_ps - o.open_ps) AS observed_ps,
    MAX(CASE WHEN o.apart THEN 1 ELSE 0 END) AS any_apart
  FROM observed AS o
  GROUP BY o.run_id, o.host_id, o.source_id
)

SELECT
  columns!(w, run_id, host_id, source_id),
  CAST(a.kept AS BIGINT) AS steps,
  w.first_ps AS open_ps,
  w.last_ps AS close_ps,
  CAST(w.observed_ps AS BIGINT) AS window_ps,
  CAST(a.kept_ps AS BIGINT) AS steps_ps,
  w.any_apart = 1 AS apart
FROM windows AS w
INNER JOIN averages AS a ON a.source_id = w.source_id

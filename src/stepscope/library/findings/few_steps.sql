-- Too few steps to speak for the job
--
-- question: Does a run hold fewer than three steps that averages include?
-- reads: step, source
-- severity: low
-- impact: Averages on {host_id} rest on {steps}. Steps differ, so the spread is unknown and the averages
--   may not be typical.
-- action: Record at least ten steps in a row after the warm-up{advice}.
-- weakened_by: lost, truncated
-- reasoning: Steps differ: buffers fill and drain, checkpoints are written, the machine does other things.
--   One or two steps show neither the spread nor an outlier, so averages over them come with this warning.
-- formula: steps = steps that averages include, over all sources of the host; reported for one or two;
--   impact = their durations added up.
-- columns:
--   impact_ps | ps | Recorded | durations of these steps, added up
--   run_id, host_id
--   steps | text | Steps | how many, in words
--   advice | text | Advice | what else to do, for what recorded them
WITH hosts AS (
  SELECT
    columns!(s, run_id, host_id),
    sum_where!(s.averaged, 1) AS kept,
    sum_where!(s.averaged, s.dur_ps) AS kept_ps,
    MIN(CASE WHEN o.of_session THEN 1 ELSE 0 END) AS by_session
  FROM step AS s
  INNER JOIN source AS o ON o.source_id = s.source_id
  WHERE s.recovered_from <> 'whole_capture'
  GROUP BY s.run_id, s.host_id
)

SELECT
  'low' AS severity,
  CAST(h.kept_ps AS BIGINT) AS impact_ps,
  columns!(h, run_id, host_id),
  CASE WHEN h.kept = 1 THEN 'one step' ELSE 'two steps' END AS steps,
  CASE
    WHEN h.by_session = 1
      THEN ', or save a timeline every few steps with ProfilerHook and pass the whole folder to stepscope'
    ELSE ''
  END AS advice
FROM hosts AS h
WHERE h.kept IN (1, 2)
ORDER BY nulls_last!(h.run_id, h.host_id)

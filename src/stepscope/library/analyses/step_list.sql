-- Steps, one by one
--
-- question: How long did each step take, what kind is it, and how long did it wait for input?
-- reads: step, step_wait, rollup_op
-- weakened_by: lost, capped, truncated, missing
-- chart: line x=step y=dur_ps,input_wait_ps
-- columns:
--   run_id | text | Run | name of the run
--   host_id | text | Host | name of the host
--   source_id | int | Source | source it was recovered from
--   step | int | Step | number of the step
--   name | text | Mark | name of the marker
--   kind | text | Kind | train, eval, compile, warm_up, cut_off or unknown
--   averaged | bool | Averaged | false when averages leave it out
--   ts_ps | ps | Start | start, from the capture's origin
--   dur_ps | ps | Duration | duration
--   input_wait_ps | ps | Input wait | time in which some thread waited for input; empty where only samples were
--     recorded, which tell nothing of single steps
--   recovered_from | text | Found by | where the step comes from
--   reason | text | Reason | why it is of this kind
WITH told AS (
  SELECT r.source_id
  FROM rollup_op AS r
  GROUP BY r.source_id
)

SELECT
  columns!(s, run_id, host_id, source_id, step, name, kind, averaged, ts_ps, dur_ps),
  CASE WHEN t.source_id IS NOT NULL OR w.waited_ps IS NOT NULL THEN COALESCE(w.waited_ps, 0) END AS input_wait_ps,
  columns!(s, recovered_from, reason)
FROM step AS s
LEFT JOIN told AS t ON t.source_id = s.source_id
LEFT JOIN step_wait AS w ON w.step_id = s.id AND w.wait = 'input'
ORDER BY nulls_last!(s.run_id, s.host_id, s.step, s.source_id, s.ts_ps, s.id)

-- Communication and compute at once
--
-- question: How much of the communication of each rank and step does compute hide?
-- reads: communication_step
-- notes: A step's communication is the time in which any collective runs: exposed where it counts to communication,
--   hidden where compute runs at the same time. Their sum is the union of the collectives, so that overlap is what
--   HTA's get_comm_comp_overlap gives, but within steps: HTA counts from the first kernel to the last, in steps or
--   not. Waiting for later ranks is part of it: a collective lasts until the last rank arrives.
-- weakened_by: lost, capped, truncated, missing
-- chart: stacked_bar x=what y=exposed_ps,hidden_ps
-- columns:
--   run_id | text | Run | name of the run
--   participant | text | Rank | rank, or host
--   what | text | Step | "mean" of the steps that averages include, or the number of the step
--   steps | int | Steps | steps that the row is the mean of
--   step_ps | ps | Duration | duration of the step
--   exposed_ps | ps | Exposed | communication that no compute hides
--   hidden_ps | ps | Hidden | communication under compute
--   overlap | ratio | Overlap | hidden part of the communication
--   wait_ps | ps | Waits | waiting for later ranks in the step's collectives, added up over them
WITH lines AS (
  SELECT
    0 AS place,
    columns!(e, run_id, participant),
    'mean' AS what,
    COUNT(*) AS number,
    CAST(NULL AS BIGINT) AS step_number,
    CAST(NULL AS BIGINT) AS at_ps,
    CAST(NULL AS BIGINT) AS row_id,
    SUM(e.dur_ps) AS dur_sum,
    SUM(e.exposed_ps) AS shown_sum,
    SUM(e.hidden_ps) AS under_sum,
    SUM(e.wait_ps) AS waited_sum
  FROM communication_step AS e
  WHERE e.averaged
  GROUP BY e.run_id, e.participant
  UNION ALL
  SELECT
    1 AS place,
    columns!(e, run_id, participant),
    CAST(e.step AS VARCHAR) AS what,
    1 AS number,
    columns!(e, step, ts_ps, step_id, dur_ps, exposed_ps, hidden_ps, wait_ps)
  FROM communication_step AS e
)

SELECT
  columns!(l, run_id, participant, what),
  l.number AS steps,
  mean!(l.dur_sum, l.number) AS step_ps,
  mean!(l.shown_sum, l.number) AS exposed_ps,
  mean!(l.under_sum, l.number) AS hidden_ps,
  share!(l.under_sum, l.shown_sum + l.under_sum) AS overlap,
  mean!(l.waited_sum, l.number) AS wait_ps
FROM lines AS l
ORDER BY nulls_last!(l.run_id, l.participant, l.place, l.step_number, l.at_ps, l.row_id)

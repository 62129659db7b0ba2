-- Collectives
--
-- question: Which collectives does a run make, and how much of their time is waiting for the last rank?
-- reads: collective
-- notes: A collective that several ranks are seen in counts once. Its transfer is the time of the rank that arrives
--   last; what the others spend beyond that is waiting. Broadcasts, messages between two ranks and exchanges of parts
--   of different sizes end on each rank by themselves, so that their waits cannot be known.
-- weakened_by: lost, capped, truncated, missing
-- columns:
--   run_id | text | Run | name of the run
--   kind | text | Kind | all_reduce, all_gather, …, as in collective
--   group_name | text | Group | process group with its ranks, tensor or op; NULL where the recording tells none
--   matched_by | text | Matched by | sequence, order, negotiation or none
--   collectives | int | Collectives | how many
--   ranks | int | Ranks | most ranks that were seen in one
--   group_size | int | Of | ranks of the group, where recorded
--   elements_in | int | Elements | elements that a rank gives, on average, where recorded
--   total_ps | ps | Total | their time, over all ranks seen
--   wait_ps | ps | Waits | of it, waiting for the last rank
--   transfer_ps | ps | Transfer | mean time from the arrival of the last rank to the end
WITH groups AS (
  SELECT
    columns!(c, run_id, kind, group_name, matched_by),
    COUNT(DISTINCT COALESCE(c.match_id, c.id)) AS number,
    MAX(c.seen) AS most_seen,
    MAX(c.group_size) AS most_size,
    CAST(SUM(c.elements_in) AS DOUBLE) AS elements_sum,
    COUNT(c.elements_in) AS sized,
    SUM(c.dur_ps) AS dur_sum,
    SUM(c.wait_ps) AS wait_sum,
    CAST(SUM(c.transfer_ps) AS DOUBLE) AS transfer_sum,
    COUNT(c.transfer_ps) AS timed
  FROM collective AS c
  GROUP BY columns!(c, run_id, kind, group_name, matched_by)
)

SELECT
  columns!(g, run_id, kind, group_name, matched_by),
  g.number AS collectives,
  g.most_seen AS ranks,
  g.most_size AS group_size,
  mean!(g.elements_sum, NULLIF(g.sized, 0)) AS elements_in,
  CAST(g.dur_sum AS BIGINT) AS total_ps,
  CAST(g.wait_sum AS BIGINT) AS wait_ps,
  mean!(g.transfer_sum, NULLIF(g.timed, 0)) AS transfer_ps
FROM groups AS g
ORDER BY nulls_last!(total_ps DESC, g.run_id, g.kind, g.group_name, g.matched_by)

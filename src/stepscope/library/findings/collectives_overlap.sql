-- Collectives look parallel, but share their links
--
-- question: Do collective ops of one host overlap on several rows?
-- reads: op_slice
-- severity: medium from 20 % of their time overlapping
-- impact: Collectives on {device} are drawn on {rows_drawn} {rows_drawn:row|rows} for {drawn_ps} in all, but the time in
--   which any of them runs is {union_ps}. They share the links between the devices, or the memory of one machine, so
--   overlapping does not make them faster.
-- action: Judge communication by the time in which any collective runs, {union_ps}, not by the number of
--   rows. Before you look for more parallelism, fuse small tensors (HOROVOD_FUSION_THRESHOLD, XLA's
--   all-reduce combiner) or send less.
-- weakened_by: lost, capped, truncated
-- reasoning: A viewer draws collectives on several rows, which looks like parallel communication. Horovod
--   runs them in one background thread, and NCCL shares the links between them: two that overlap take as
--   long as one after the other. Adding up the rows counts that time twice, so communication is judged by
--   the time in which any collective runs. The rows of a graph's ops on a GPU show calls that wait for all that
--   was launched before: there, the streams of the same recording say when collectives run.
-- formula: drawn = sum of the durations of the collectives of a device, or of the calls that wait for collectives;
--   union = length of the union of the collectives' intervals on it, or, of calls, on all streams of the recording;
--   impact = drawn - union; overlap_share = impact / drawn. Reported from two rows and overlap_share >= 0.2.
-- columns:
--   impact_ps | ps | Counted twice | time that is drawn, beyond the time in which any collective runs
--   run_id, host_id, source_id
--   device | text | Device | device of the rows
--   rows_drawn | int | Rows | rows that hold collectives
--   drawn_ps | ps | Drawn | durations of the collectives, added up
--   overlap_share | ratio | Overlapping | part of their time that others cover
--   union_ps | ps | Any running | time in which at least one runs
WITH ordered AS (
  SELECT
    columns!(o, run_id, host_id, source_id, place, device, track_id, ts_ps, end_ps),
    covered!(o.end_ps, o.ts_ps, o.slice_id, o.source_id, o.place, o.device) AS covered_ps
  FROM op_slice AS o
  WHERE o.class = 'communication' AND (o.works OR o.place = 'launch')
),

devices AS (
  SELECT
    columns!(r, run_id, host_id, source_id, place, device),
    COUNT(DISTINCT r.track_id) AS rows_drawn,
    SUM(r.end_ps - r.ts_ps) AS sum_ps,
    SUM(uncovered!(r.covered_ps, r.ts_ps, r.end_ps)) AS any_ps
  FROM ordered AS r
  GROUP BY columns!(r, run_id, host_id, source_id, place, device)
),

on_streams AS (
  SELECT
    columns!(s, source_id, ts_ps, end_ps),
    covered!(s.end_ps, s.ts_ps, s.slice_id, s.source_id) AS covered_ps
  FROM op_slice AS s
  WHERE s.class = 'communication' AND s.works AND s.place = 'device'
),

sources AS (
  SELECT i.source_id AS of_source, SUM(uncovered!(i.covered_ps, i.ts_ps, i.end_ps)) AS running_ps
  FROM on_streams AS i
  GROUP BY i.source_id
),

judged AS (
  SELECT
    columns!(d, run_id, host_id, source_id, device, rows_drawn, sum_ps),
    -- How long the collectives run that calls wait for is known from the streams alone.
    CASE WHEN d.place = 'launch' THEN u.running_ps ELSE d.any_ps END AS union_sum,
    d.any_ps
  FROM devices AS d
  LEFT JOIN sources AS u ON u.of_source = d.source_id
)

SELECT
  'medium' AS severity,
  CAST(j.sum_ps - j.union_sum AS BIGINT) AS impact_ps,
  columns!(j, run_id, host_id, source_id, device, rows_drawn),
  CAST(j.sum_ps AS BIGINT) AS drawn_ps,
  share!(j.sum_ps - j.union_sum, j.sum_ps) AS overlap_share,
  CAST(j.union_sum AS BIGINT) AS union_ps
FROM judged AS j
WHERE
  j.rows_drawn > 1 AND j.sum_ps > 0
  AND (j.sum_ps - j.any_ps) * 5 >= j.sum_ps AND (j.sum_ps - j.union_sum) * 5 >= j.sum_ps
ORDER BY nulls_last!(impact_ps DESC, j.source_id, j.device)

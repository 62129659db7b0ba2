-- Collectives look parallel, but share their links
--
-- question: Do collective ops of one host overlap on several rows?
-- reads: op_slice
-- severity: medium from 20 % of their time overlapping
-- impact: Collectives on {device} overlap for {impact_ps} ({overlap_share} of their time), on {rows_drawn}
--   {rows_drawn:row|rows}. They share the links between the devices, or the memory of one machine, so
--   overlapping does not make them faster.
-- action: Judge communication by the time in which any collective runs, {union_ps}, not by the number of
--   rows. Before you look for more parallelism, fuse small tensors (HOROVOD_FUSION_THRESHOLD, XLA's
--   all-reduce combiner) or send less.
-- weakened_by: lost, capped, truncated
-- reasoning: A viewer draws collectives on several rows, which looks like parallel communication. Horovod
--   runs them in one background thread, and NCCL shares the links between them: two that overlap take as
--   long as one after the other. Adding up the rows counts that time twice, so communication is judged by
--   the time in which any collective runs.
-- formula: of collectives themselves, and not of calls that wait for one: union = length of the union of the collectives' intervals on a device; impact = sum of their
--   durations - union; overlap_share = impact / sum. Reported from two rows and overlap_share >= 0.2.
-- columns:
--   impact_ps | ps | Counted twice | time of collectives that others cover
--   run_id, host_id, source_id
--   device | text | Device | device of the rows
--   rows_drawn | int | Rows | rows that hold collectives
--   overlap_share | ratio | Overlapping | part of their time that others cover
--   union_ps | ps | Any running | time in which at least one runs
WITH ordered AS (
  SELECT
    columns!(o, run_id, host_id, source_id, device, track_id, ts_ps, end_ps),
    covered!(o.end_ps, o.ts_ps, o.slice_id, o.source_id, o.device) AS covered_ps
  FROM op_slice AS o
  WHERE o.class = 'communication' AND o.works
),

devices AS (
  SELECT
    columns!(r, run_id, host_id, source_id, device),
    COUNT(DISTINCT r.track_id) AS rows_drawn,
    SUM(r.end_ps - r.ts_ps) AS sum_ps,
    SUM(uncovered!(r.covered_ps, r.ts_ps, r.end_ps)) AS any_ps
  FROM ordered AS r
  GROUP BY columns!(r, run_id, host_id, source_id, device)
)

SELECT
  'medium' AS severity,
  CAST(d.sum_ps - d.any_ps AS BIGINT) AS impact_ps,
  columns!(d, run_id, host_id, source_id, device, rows_drawn),
  share!(d.sum_ps - d.any_ps, d.sum_ps) AS overlap_share,
  CAST(d.any_ps AS BIGINT) AS union_ps
FROM devices AS d
WHERE d.rows_drawn > 1 AND (d.sum_ps - d.any_ps) * 5 >= d.sum_ps AND d.sum_ps > 0
ORDER BY nulls_last!(impact_ps DESC, d.source_id, d.device)

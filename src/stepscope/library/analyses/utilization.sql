-- How much of its peaks a device uses
--
-- question: Which part of the operations and bytes that a device could do while steps run does it do?
-- reads: op_cost, step_window
-- notes: Operations that ran, those that are done again (activation checkpointing) among them; of ops whose cost is
--   unknown, none, so that the parts are at least so large. The model's FLOPs utilization (MFU) is that of operations.
-- weakened_by: lost, capped, truncated, missing
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   device | text | Device | device
--   steps | int | Steps | steps that averages include
--   window_ps | ps | Window | time in which they were recorded
--   computing_ps | ps | Computing | time of ops that compute, added up
--   unknown_share | ratio | Unknown | part of that time in ops whose operations and bytes are not known
--   known_flops | flop | Operations | floating-point operations of the others
--   mfu | ratio | MFU | the time that these need at the peaks, as part of the window
--   memory_share | ratio | Memory | the same of their bytes
--   needed_ps | ps | Least | least time of ops whose least time is known
--   needed_of_ps | ps | Of | time that these took
--   peaks_by | text | Peaks | what tells the peaks
WITH sums AS (
  SELECT
    c.run_id,
    c.host_id,
    c.source_id,
    c.device,
    MAX(c.peaks_by) AS told_by,
    SUM(c.self_ps) AS own_ps,
    SUM(CASE WHEN c.flops IS NULL OR c.bytes IS NULL THEN c.self_ps ELSE 0 END) AS unknown_ps,
    SUM(c.flops) AS flops_sum,
    SUM(CAST(c.flops AS DOUBLE) / NULLIF(c.peak_flops, 0.0)) AS flops_s,
    SUM(CAST(c.bytes AS DOUBLE) / NULLIF(c.peak_bytes, 0.0)) AS bytes_s,
    SUM(c.least_ps) AS least_sum,
    SUM(CASE WHEN c.least_ps IS NULL THEN 0 ELSE c.self_ps END) AS least_of
  FROM op_cost AS c
  GROUP BY c.run_id, c.host_id, c.source_id, c.device
)

SELECT
  s.run_id,
  s.host_id,
  s.source_id,
  s.device,
  w.steps,
  w.window_ps,
  CAST(s.own_ps AS BIGINT) AS computing_ps,
  CAST(s.unknown_ps AS DOUBLE) / NULLIF(s.own_ps, 0) AS unknown_share,
  s.flops_sum AS known_flops,
  CAST(s.flops_s AS DOUBLE) * 1000000000000.0 / NULLIF(w.window_ps, 0) AS mfu,
  CAST(s.bytes_s AS DOUBLE) * 1000000000000.0 / NULLIF(w.window_ps, 0) AS memory_share,
  CAST(s.least_sum AS BIGINT) AS needed_ps,
  CAST(s.least_of AS BIGINT) AS needed_of_ps,
  s.told_by AS peaks_by
FROM sums AS s
INNER JOIN step_window AS w ON w.source_id = s.source_id
ORDER BY s.source_id NULLS LAST, s.device NULLS LAST

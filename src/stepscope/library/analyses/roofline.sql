-- Ops against what their device could do
--
-- question: How long do ops take, and how long would their device need for their operations and bytes at least?
-- reads: op_cost
-- notes: While steps run. The least time is that of the device's peaks, `stepscope docs devices`: operations and bytes
--   at once, each number read and written once. No op reaches it; what is far from it could be faster. An op without
--   a least time says why.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=op y=all_ps
-- columns:
--   op | text | Op | op; kernel or instruction where no op is known
--   place | text | Line | line that made it, where known
--   device | text | Device | device that ran it
--   bound | text | Bound | compute or memory, whichever takes longer at the peaks
--   all_ps | ps | Time | time on the device, added up
--   best_ps | ps | Least | least time that the device needs
--   roof_share | ratio | Of peak | least time as part of the time
--   share | ratio | Share | its time as part of that of all ops of the device
--   all_runs | int | Runs | executions
--   all_flops | flop | Operations | floating-point operations
--   all_bytes | bytes | Bytes | bytes read and written at least
--   number_type | text | Type | type of the numbers that it multiplies
--   counted_by | text | Counted by | shapes, program or profiler
--   problem | text | Unknown | why something is unknown
--   run_id, host_id, source_id
WITH sums AS (
  SELECT
    columns!(c, run_id, host_id, source_id, device, op_name, file, line, bound, number_type, counted_by, problem),
    SUM(c.self_ps) AS sum_ps,
    SUM(c.least_ps) AS least_sum,
    SUM(c.executions) AS runs_sum,
    SUM(c.flops) AS flops_sum,
    SUM(c.bytes) AS bytes_sum
  FROM op_cost AS c
  GROUP BY columns!(c, run_id, host_id, source_id, device, op_name, file, line, bound, number_type, counted_by, problem)
),

wholes AS (
  SELECT c.source_id, c.device, SUM(c.self_ps) AS whole_ps
  FROM op_cost AS c
  GROUP BY c.source_id, c.device
)

SELECT
  s.op_name AS op,
  s.file || ':' || CAST(s.line AS VARCHAR) AS place,
  columns!(s, device, bound),
  CAST(s.sum_ps AS BIGINT) AS all_ps,
  CAST(s.least_sum AS BIGINT) AS best_ps,
  share!(s.least_sum, s.sum_ps) AS roof_share,
  share!(s.sum_ps, w.whole_ps) AS share,
  CAST(s.runs_sum AS BIGINT) AS all_runs,
  s.flops_sum AS all_flops,
  s.bytes_sum AS all_bytes,
  columns!(s, number_type, counted_by, problem, run_id, host_id, source_id)
FROM sums AS s
INNER JOIN wholes AS w ON w.source_id = s.source_id AND w.device = s.device
ORDER BY nulls_last!(
  s.sum_ps DESC, s.source_id, s.device, s.op_name, s.file, s.line, s.bound, s.number_type, s.counted_by, s.problem
)

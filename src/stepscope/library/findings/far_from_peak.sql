-- An op takes much longer than its device needs
--
-- question: Which ops take a large part of the steps and run far below what their device can do?
-- reads: op_cost, step_window, broken_law
-- severity: medium from a fifth of the window that the device could be done earlier, low from a twentieth
-- impact: {what} runs at {roof_share} of what {limited_by} of {device} allows: {took_ps} in {executions}
--   {executions:execution|executions}, for which it needs {needed_ps} at least.
-- action: `stepscope roofline` has all ops with their shapes. Small or odd shapes, layouts that are copied
--   and 32-bit floats are what keeps ops from their peaks: pad sizes to multiples of 64, batch more, use
--   bf16, fuse what is bound by memory.
-- action_pytorch: `stepscope roofline` has all ops with their shapes. Small or odd shapes, layouts that are
--   copied and 32-bit floats are what keeps ops from their peaks: pad sizes to multiples of 64, batch more,
--   use torch.autocast, fuse what is bound by memory (torch.compile).
-- action_torch_compiled: `stepscope roofline` has all ops with their shapes. Small or odd shapes, layouts that are
--   copied and 32-bit floats are what keeps ops from their peaks: pad sizes to multiples of 64, batch more,
--   use torch.autocast.
-- weakened_by: lost, capped, truncated, missing
-- reasoning: A device has two limits, operations and bytes of a second. The least time of an op is what the
--   slower of both needs; what takes several times as long has room. Ops of which operations, bytes or peaks
--   are unknown are never reported, nor short ones: launching limits those.
-- formula: least time = the larger of operations / peak and bytes / peak, each number read and written once.
--   Reported for ops of at least 20 us on average that take at least 2.5 times that, where the difference is
--   0.05 x window or more, and no law about the times of kernels is broken.
-- columns:
--   impact_ps | ps | Could be saved | time of the op without the least time
--   run_id, host_id, source_id
--   device | text | Device | device that runs it
--   what | text | Op | line of the program, or op
--   op | text | Name | name of the op
--   limited_by | text | Limit | the arithmetic or the memory
--   roof_share | ratio | Of peak | least time as part of the time
--   took_ps | ps | Time | time on the device
--   needed_ps | ps | Least | least time that the device needs
--   executions | int | Executions | how often it ran
--   peaks_by | text | Peaks | what tells the peaks
WITH untold AS (
  SELECT b.source_id
  FROM broken_law AS b
  WHERE b.law IN ('one_after_another', 'work_has_time', 'execution_on_a_core')
  GROUP BY b.source_id
),

sums AS (
  SELECT
    columns!(c, run_id, host_id, source_id, device, op_name, file, line, bound, peaks_by),
    SUM(c.self_ps) AS sum_ps,
    SUM(c.least_ps) AS least_sum,
    SUM(c.executions) AS runs_sum
  FROM op_cost AS c
  WHERE c.bound IS NOT NULL
  GROUP BY columns!(c, run_id, host_id, source_id, device, op_name, file, line, bound, peaks_by)
)

SELECT
  CASE WHEN (s.sum_ps - s.least_sum) * 5 >= w.window_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(s.sum_ps - s.least_sum AS BIGINT) AS impact_ps,
  columns!(s, run_id, host_id, source_id, device),
  COALESCE(s.file || ':' || CAST(s.line AS VARCHAR), s.op_name) AS what,
  s.op_name AS op,
  CASE WHEN s.bound = 'compute' THEN 'the arithmetic' ELSE 'the memory' END AS limited_by,
  share!(s.least_sum, s.sum_ps) AS roof_share,
  CAST(s.sum_ps AS BIGINT) AS took_ps,
  CAST(s.least_sum AS BIGINT) AS needed_ps,
  CAST(s.runs_sum AS BIGINT) AS executions,
  s.peaks_by
FROM sums AS s
INNER JOIN step_window AS w ON w.source_id = s.source_id
LEFT JOIN untold AS u ON u.source_id = s.source_id
WHERE
  u.source_id IS NULL
  AND w.window_ps > 0
  AND s.sum_ps >= s.runs_sum * 20000000
  AND s.sum_ps * 2 >= s.least_sum * 5
  AND (s.sum_ps - s.least_sum) * 20 >= w.window_ps
ORDER BY nulls_last!(s.sum_ps - s.least_sum DESC, s.source_id, s.device, s.op_name, s.file, s.line, s.bound)

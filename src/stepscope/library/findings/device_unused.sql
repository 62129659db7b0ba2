-- An accelerator takes no part in the work
--
-- question: Which accelerators execute next to nothing while another one of their host works?
-- reads: device_sum
-- severity: medium
-- impact: {device} executes {executions} {executions:op|ops} in {impact_ps}; {busiest} works {times} times as long.
-- action: Give it a part of each batch (MirroredStrategy, pmap, DistributedDataParallel), or leave it to another job
--   (CUDA_VISIBLE_DEVICES).
-- weakened_by: lost, capped, truncated, missing
-- reasoning: A program takes all accelerators that it sees, and a framework puts ops on the first one unless it is
--   told otherwise. The others hold memory and are paid for.
-- formula: times = execution on the busiest device of the host / execution on this one; reported from 100. A device on
--   which nothing was recorded is not in the recording.
-- columns:
--   impact_ps | ps | Executed | durations of what it executed, added up
--   run_id, host_id, source_id
--   device | text | Device | name of the device
--   executions | int | Executions | kernels, copies, sets and ops that it executed
--   busiest | text | Busiest | the device of the host that executed longest
--   times | int | Times | how many times as long that one executed
WITH ranked AS (
  SELECT
    columns!(d, run_id, host_id, source_id, device, executions, sum_executions_ps),
    FIRST_VALUE(d.device) OVER (
      PARTITION BY d.run_id, d.host_id
      ORDER BY nulls_last!(d.sum_executions_ps DESC, d.source_id, d.device)
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS busiest,
    FIRST_VALUE(d.sum_executions_ps) OVER (
      PARTITION BY d.run_id, d.host_id
      ORDER BY nulls_last!(d.sum_executions_ps DESC, d.source_id, d.device)
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS most_ps
  FROM device_sum AS d
  WHERE d.place = 'device'
)

SELECT
  'medium' AS severity,
  r.sum_executions_ps AS impact_ps,
  columns!(r, run_id, host_id, source_id, device, executions, busiest),
  whole!(CAST(r.most_ps AS DOUBLE) / r.sum_executions_ps + 0.5) AS times
FROM ranked AS r
WHERE r.sum_executions_ps > 0 AND r.sum_executions_ps * 100 < r.most_ps
ORDER BY nulls_last!(r.run_id, r.host_id, r.source_id, r.device)

-- Rows show launches, not what the device did
--
-- question: Is the work of an accelerator known only from the side that launched it?
-- reads: track_place, op_sum
-- severity: medium
-- impact: {launches} {launches:op|ops} shown for {device} {launches:is a launch|are launches} by the host:
--   {launches:its|their} {impact_ps} is how long launching took, not how long the device worked.
-- action: Record the device as well: use the full trace level with CUPTI on the library path
--   (LD_LIBRARY_PATH), or tf.profiler.experimental. Until then, use these rows for order, not for time.
-- weakened_by: lost, capped
-- reasoning: If CUPTI was not found or the trace level was low, rows named after a device hold what the
--   host did to launch its work. Launching is asynchronous: such a bar may be short while the kernel is
--   long, and the other way round. The order of these bars is right; their lengths are not those of the
--   work.
-- formula: Reported for each device with launch slices in a source that has no row of real device
--   execution; impact = durations of these launches added up.
-- columns:
--   impact_ps | ps | Doubtful | durations of the launches, added up
--   run_id, host_id, source_id
--   device | text | Device | device that was launched on
--   launches | int | Launches | slices that show launches
WITH launched AS (
  SELECT o.run_id, o.host_id, o.source_id, o.device, SUM(o.sum_dur_ps) AS launch_ps, SUM(o.slices) AS number
  FROM op_sum AS o
  WHERE o.place = 'launch' AND o.device_kind <> 'cpu'
  GROUP BY columns!(o, run_id, host_id, source_id, device)
),

executed AS (
  SELECT p.source_id, COUNT(*) AS streams
  FROM track_place AS p
  WHERE p.place = 'device'
  GROUP BY p.source_id
)

SELECT
  'medium' AS severity,
  CAST(l.launch_ps AS BIGINT) AS impact_ps,
  columns!(l, run_id, host_id, source_id, device),
  CAST(l.number AS BIGINT) AS launches
FROM launched AS l
LEFT JOIN executed AS e ON e.source_id = l.source_id
WHERE e.streams IS NULL
ORDER BY nulls_last!(l.launch_ps DESC, l.source_id, l.device)

-- Busy time over the whole recording, by device
--
-- question: How long did each accelerator work in all, whichever steps its work belongs to?
-- reads: op_slice
-- notes: The union of all executions in the recording: kernels, copies and sets, also of steps that averages leave
--   out, of steps that compile, and outside of the host's steps, where a host runs ahead of its device.
--   busy_by_device counts what lies in the window of the steps.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=device y=busy_ps
-- columns:
--   run_id, host_id, source_id
--   device | text | Device | name of the device
--   busy_ps | ps | Busy | union of its executions
--   span_ps | ps | Span | from the begin of the first execution to the end of the last
--   busy_share | ratio | Busy share | busy time as part of the span
--   executions | int | Executions | how many there are
WITH ordered AS (
  SELECT
    columns!(o, run_id, host_id, source_id, device, device_track_id, ts_ps, end_ps),
    covered!(o.end_ps, o.ts_ps, o.slice_id, o.device_track_id) AS covered_ps
  FROM op_slice AS o
  WHERE o.place = 'device' AND o.works
)

SELECT
  columns!(d, run_id, host_id, source_id, device),
  sum!(uncovered!(d.covered_ps, d.ts_ps, d.end_ps)) AS busy_ps,
  MAX(d.end_ps) - MIN(d.ts_ps) AS span_ps,
  share!(SUM(uncovered!(d.covered_ps, d.ts_ps, d.end_ps)), MAX(d.end_ps) - MIN(d.ts_ps)) AS busy_share,
  COUNT(*) AS executions
FROM ordered AS d
GROUP BY columns!(d, run_id, host_id, source_id, device, device_track_id)
ORDER BY nulls_last!(d.run_id, d.host_id, d.source_id, d.device, d.device_track_id)

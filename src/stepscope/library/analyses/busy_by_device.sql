-- Busy and idle, by device
--
-- question: How much of the window was each device at work, and how much was it idle?
-- reads: device_sum
-- notes: Busy is the union of the work on all rows of the device, never a sum: two streams at work at once
--   count once. The window runs from the first to the last step that averages include, and over a last step
--   that the recording cuts off; without steps, over everything that ran. Where each step is a
--   recording of its own, the window is these steps, added up over the sources of a run and host: the time
--   between them was never recorded. Executions and their sum count over the whole recording: kernels, copies
--   and sets of a device, ops of a processor; no waits, marks or calls of a runtime.
-- weakened_by: lost, capped, truncated, missing
-- chart: stacked_bar x=device y=busy_ps,idle_ps
-- columns:
--   run_id, host_id
--   source_id | int | Source | source it was read from; the first of several
--   place | text | Place | device: an accelerator; host: a processor
--   device | text | Device | name of the device
--   busy_ps | ps | Busy | union of its work within the window
--   idle_ps | ps | Idle | the rest of the window
--   busy_share | ratio | Busy share | busy time as part of the window
--   longest_gap_ps | ps | Longest gap | longest stretch without work
--   gaps | int | Gaps | stretches without work
--   slices | int | Slices | slices of work within the window
--   executions | int | Executions | executions over the whole recording
--   sum_ps | ps | Executed | their durations, added up; of ops, which nest, their self times
--   window_ps | ps | Window | length of the window
WITH sorted AS (
  SELECT
    columns!(d, run_id, host_id),
    d.source_id AS from_source,
    CASE WHEN d.apart THEN -1 ELSE d.source_id END AS together,
    columns!(d, place, device, sum_busy_ps, sum_idle_ps, most_idle_ps, idle_gaps, work_slices),
    d.executions AS work_executions,
    d.sum_executions_ps,
    d.window_ps AS length_ps
  FROM device_sum AS d
)

SELECT
  columns!(o, run_id, host_id),
  MIN(o.from_source) AS source_id,
  columns!(o, place, device),
  sum!(o.sum_busy_ps) AS busy_ps,
  sum!(o.sum_idle_ps) AS idle_ps,
  share!(SUM(o.sum_busy_ps), SUM(o.sum_busy_ps) + SUM(o.sum_idle_ps)) AS busy_share,
  MAX(o.most_idle_ps) AS longest_gap_ps,
  sum!(o.idle_gaps) AS gaps,
  sum!(o.work_slices) AS slices,
  sum!(o.work_executions) AS executions,
  sum!(o.sum_executions_ps) AS sum_ps,
  sum!(o.length_ps) AS window_ps
FROM sorted AS o
GROUP BY columns!(o, run_id, host_id, place, device, together)
ORDER BY nulls_last!(o.run_id, o.host_id, source_id, o.place, o.device)

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
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
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
    d.run_id,
    d.host_id,
    d.source_id,
    CASE WHEN d.apart THEN -1 ELSE d.source_id END AS together,
    d.place,
    d.device,
    d.sum_busy_ps,
    d.sum_idle_ps,
    d.most_idle_ps,
    d.idle_gaps,
    d.work_slices,
    d.executions,
    d.sum_executions_ps,
    d.window_ps AS length_ps
  FROM device_sum AS d
),

summed AS (
  SELECT
    o.run_id,
    o.host_id,
    MIN(o.source_id) AS first_source_id,
    o.place,
    o.device,
    SUM(o.sum_busy_ps) AS busy_total,
    SUM(o.sum_idle_ps) AS idle_total,
    MAX(o.most_idle_ps) AS most_gap_ps,
    SUM(o.idle_gaps) AS gap_total,
    SUM(o.work_slices) AS slice_total,
    SUM(o.executions) AS execution_total,
    SUM(o.sum_executions_ps) AS executed_total,
    SUM(o.length_ps) AS length_total
  FROM sorted AS o
  GROUP BY o.run_id, o.host_id, o.place, o.device, o.together
)

SELECT
  s.run_id,
  s.host_id,
  s.first_source_id AS source_id,
  s.place,
  s.device,
  CAST(s.busy_total AS BIGINT) AS busy_ps,
  CAST(s.idle_total AS BIGINT) AS idle_ps,
  share!(s.busy_total, s.busy_total + s.idle_total) AS busy_share,
  s.most_gap_ps AS longest_gap_ps,
  CAST(s.gap_total AS BIGINT) AS gaps,
  CAST(s.slice_total AS BIGINT) AS slices,
  CAST(s.execution_total AS BIGINT) AS executions,
  CAST(s.executed_total AS BIGINT) AS sum_ps,
  CAST(s.length_total AS BIGINT) AS window_ps
FROM summed AS s
ORDER BY nulls_last!(s.run_id, s.host_id, s.first_source_id, s.place, s.device)

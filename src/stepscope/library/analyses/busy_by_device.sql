-- Busy and idle, by device
--
-- question: How much of the window was each device at work, and how much was it idle?
-- reads: device_sum
-- notes: Busy is the union of the work on all rows of the device, never a sum: two streams at work at
--   once count once. The window runs from the first to the last step that averages include.
-- weakened_by: lost, capped, truncated, missing
-- chart: stacked_bar x=device y=busy_ps,idle_ps
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   place | text | Place | device: an accelerator; host: a processor
--   device | text | Device | name of the device
--   busy_ps | ps | Busy | union of its work within the window
--   idle_ps | ps | Idle | the rest of the window
--   busy_share | ratio | Busy share | busy time as part of the window
--   longest_gap_ps | ps | Longest gap | longest stretch without work
--   gaps | int | Gaps | stretches without work
--   slices | int | Slices | slices of work
SELECT
  d.run_id,
  d.host_id,
  d.source_id,
  d.place,
  d.device,
  d.sum_busy_ps AS busy_ps,
  d.sum_idle_ps AS idle_ps,
  CAST(d.sum_busy_ps AS DOUBLE) / NULLIF(d.window_ps, 0) AS busy_share,
  d.most_idle_ps AS longest_gap_ps,
  d.idle_gaps AS gaps,
  d.work_slices AS slices
FROM device_sum AS d
ORDER BY
  d.run_id NULLS LAST, d.host_id NULLS LAST, d.source_id NULLS LAST, d.place NULLS LAST, d.device NULLS LAST

-- Busy and idle, by device
--
-- question: How much of the window was each device at work, and how much was it idle?
-- reads: device_load, step_window
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
--   longest_gap_ps | ps | Longest gap | longest stretch between two works
--   gaps | int | Gaps | stretches without work between two works
--   slices | int | Slices | slices of work
WITH devices AS (
  SELECT
    d.run_id,
    d.host_id,
    d.source_id,
    d.place,
    d.device,
    SUM(d.busy_ps) AS sum_busy_ps,
    MAX(d.gap_ps) AS most_gap_ps,
    SUM(CASE WHEN d.gap_ps > 0 THEN 1 ELSE 0 END) AS gap_count,
    COUNT(*) AS slices
  FROM device_load AS d
  GROUP BY d.run_id, d.host_id, d.source_id, d.place, d.device
)

SELECT
  d.run_id,
  d.host_id,
  d.source_id,
  d.place,
  d.device,
  CAST(d.sum_busy_ps AS BIGINT) AS busy_ps,
  CAST(w.until_ps - w.begin_ps - d.sum_busy_ps AS BIGINT) AS idle_ps,
  CAST(d.sum_busy_ps AS DOUBLE) / NULLIF(w.until_ps - w.begin_ps, 0) AS busy_share,
  COALESCE(d.most_gap_ps, 0) AS longest_gap_ps,
  CAST(d.gap_count AS BIGINT) AS gaps,
  d.slices
FROM devices AS d
INNER JOIN step_window AS w ON w.source_id = d.source_id
ORDER BY
  d.run_id NULLS LAST, d.host_id NULLS LAST, d.source_id NULLS LAST, d.place NULLS LAST, d.device NULLS LAST

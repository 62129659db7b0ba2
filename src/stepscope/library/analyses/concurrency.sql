-- Real concurrency
--
-- question: How many rows of a device are at work at once, compared with how many are drawn?
-- reads: device_sum, track_sum
-- notes: concurrency is the busy time of the rows added up, divided by the time in which any was busy: 1
--   means one after the other, however many rows a viewer shows. On lanes it says how many ops overlap,
--   which is an upper bound of what ran at once: ops that wait for each other overlap as well.
-- weakened_by: lost, capped, truncated, missing
-- columns:
--   run_id, host_id, source_id
--   place | text | Place | device or host
--   device | text | Device | name of the device
--   rows_drawn | int | Rows | rows of the timeline that hold its work
--   concurrency | float | In parallel | mean number of rows at work while any is
--   any_busy_ps | ps | Busy | time in which at least one row was at work
--   rows_busy_ps | ps | Rows' busy | busy times of the rows, added up
SELECT
  columns!(l, run_id, host_id, source_id, place, device),
  COUNT(*) AS rows_drawn,
  share!(SUM(l.sum_busy_ps), d.sum_busy_ps) AS concurrency,
  d.sum_busy_ps AS any_busy_ps,
  sum!(l.sum_busy_ps) AS rows_busy_ps
FROM track_sum AS l
INNER JOIN device_sum AS d ON d.source_id = l.source_id AND d.place = l.place AND d.device = l.device
GROUP BY l.run_id, l.host_id, l.source_id, l.place, l.device, d.sum_busy_ps
ORDER BY nulls_last!(l.run_id, l.host_id, l.source_id, l.place, l.device)

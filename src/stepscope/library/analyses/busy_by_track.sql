-- Busy and idle, by track
--
-- question: How much of the window was each row of the timeline at work?
-- reads: track_sum, step_window, track_place
-- notes: Only rows that hold work are listed; launches, marks and counters are not work. A row is a thread,
--   a stream or a lane (a place that a viewer packed slices into), as its kind says.
-- weakened_by: lost, capped, truncated, missing
-- chart: stacked_bar x=track_name y=busy_ps,idle_ps
-- columns:
--   run_id, host_id
--   track_id | int | Track | number of the track
--   device | text | Device | device it belongs to
--   track_name | text | Row | the row's own name
--   track_kind | text | Kind | thread, device_stream, lane or unknown
--   busy_ps | ps | Busy | union of its work within the window
--   idle_ps | ps | Idle | the rest of the window
--   busy_share | ratio | Busy share | busy time as part of the window
--   longest_gap_ps | ps | Longest gap | longest stretch between two works
--   slices | int | Slices | slices of work
SELECT
  columns!(t, run_id, host_id, track_id),
  columns!(p, device, track_name, track_kind),
  t.sum_busy_ps AS busy_ps,
  w.window_ps - t.sum_busy_ps AS idle_ps,
  share!(t.sum_busy_ps, w.window_ps) AS busy_share,
  t.most_gap_ps AS longest_gap_ps,
  t.work_slices AS slices
FROM track_sum AS t
INNER JOIN step_window AS w ON w.source_id = t.source_id
INNER JOIN track_place AS p ON p.track_id = t.track_id
ORDER BY nulls_last!(t.sum_busy_ps DESC, t.track_id)

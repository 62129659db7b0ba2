-- Work of tracks, added up
--
-- question: How long was each row of the timeline at work within the window?
-- reads: track_load
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   track_id | int | Track | number of the track
--   place | text | Place | device or host
--   device | text | Device | name of the device
--   sum_busy_ps | ps | Busy | union of its work
--   most_gap_ps | ps | Longest gap | longest stretch between two works
--   work_slices | int | Slices | slices of work
SELECT
  l.run_id,
  l.host_id,
  l.source_id,
  l.track_id,
  l.place,
  l.device,
  CAST(SUM(l.busy_ps) AS BIGINT) AS sum_busy_ps,
  COALESCE(MAX(l.gap_ps), 0) AS most_gap_ps,
  COUNT(*) AS work_slices
FROM track_load AS l
GROUP BY l.run_id, l.host_id, l.source_id, l.track_id, l.place, l.device

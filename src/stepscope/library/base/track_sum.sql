-- Work of tracks, added up
--
-- question: How long was each row of the timeline at work within the window?
-- reads: track_load, track_place
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
WITH tracks AS (
  SELECT l.track_id, SUM(l.busy_ps) AS busy_total, MAX(l.gap_ps) AS longest_ps, COUNT(*) AS number
  FROM track_load AS l
  GROUP BY l.track_id
)

SELECT
  p.run_id,
  p.host_id,
  p.source_id,
  p.track_id,
  p.place,
  p.device,
  CAST(t.busy_total AS BIGINT) AS sum_busy_ps,
  COALESCE(t.longest_ps, 0) AS most_gap_ps,
  t.number AS work_slices
FROM tracks AS t
INNER JOIN track_place AS p ON p.track_id = t.track_id

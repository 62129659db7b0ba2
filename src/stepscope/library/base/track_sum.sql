-- Work of tracks, added up
--
-- question: How long was each row of the timeline at work within the window?
-- reads: rollup_device, observed, track_place
-- columns:
--   run_id, host_id, source_id
--   track_id | int | Track | number of the track
--   place | text | Place | device or host
--   device | text | Device | name of the device
--   sum_busy_ps | ps | Busy | union of its work
--   most_gap_ps | ps | Longest gap | longest stretch between two works
--   work_slices | int | Slices | slices of work
WITH tracks AS (
  SELECT r.track_id, SUM(r.busy_ps) AS busy_total, MAX(r.most_gap_ps) AS longest_ps, SUM(r.slices) AS number
  FROM rollup_device AS r
  INNER JOIN observed AS o ON o.piece_id = r.piece_id
  WHERE r.track_id IS NOT NULL
  GROUP BY r.track_id
)

SELECT
  columns!(p, run_id, host_id, source_id, track_id, place, device),
  CAST(t.busy_total AS BIGINT) AS sum_busy_ps,
  t.longest_ps AS most_gap_ps,
  CAST(t.number AS BIGINT) AS work_slices
FROM tracks AS t
INNER JOIN track_place AS p ON p.track_id = t.track_id

-- Idle time of devices
--
-- question: When was a device idle, within the window?
-- reads: observed, rollup_op, track_place, work_slice
-- notes: From the start of a stretch of observed to the first work, between works, and from the last
--   work to the end of the stretch; a device that worked in another stretch only was idle for all of it.
-- columns:
--   run_id, host_id, source_id
--   place | text | Place | device or host
--   device | text | Device | device that was idle
--   device_kind | text | Device kind | cpu, gpu, tpu or unknown
--   begin_ps | ps | Begin | start of the gap, from the capture's origin
--   idle_ps | ps | Idle | its length
--   next_slice_id | int | Next slice | slice that ended it; NULL at the end of the stretch
WITH bounds AS (
  SELECT w.device_track_id, w.piece_id, MAX(w.to_ps) AS last_ps
  FROM work_slice AS w
  GROUP BY w.device_track_id, w.piece_id
),

devices AS (
  SELECT p.device_track_id
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.is_op AND r.class NOT IN ('input', 'wait') AND p.place IN ('device', 'host')
  GROUP BY p.device_track_id
),

stretches AS (
  SELECT
    d.device_track_id,
    o.close_ps,
    COALESCE(b.last_ps, o.open_ps) AS reached_ps
  FROM devices AS d
  INNER JOIN track_place AS p ON p.track_id = d.device_track_id
  INNER JOIN observed AS o ON o.source_id = p.source_id
  LEFT JOIN bounds AS b ON b.device_track_id = d.device_track_id AND b.piece_id = o.piece_id
),

loads AS (
  SELECT
    columns!(w, slice_id, device_track_id, piece_id, from_ps),
    covered!(w.to_ps, w.from_ps, w.slice_id, w.device_track_id, w.piece_id) AS covered_ps
  FROM work_slice AS w
),

after_gaps AS (
  SELECT d.device_track_id, d.piece_id, d.slice_id, d.covered_ps, d.from_ps
  FROM loads AS d
  WHERE d.covered_ps IS NULL OR d.from_ps > d.covered_ps
),

gaps AS (
  SELECT a.device_track_id, a.slice_id AS next_slice_id, a.covered_ps AS begin_ps, a.from_ps AS stop_ps
  FROM after_gaps AS a
  WHERE a.covered_ps IS NOT NULL
  UNION ALL
  SELECT f.device_track_id, f.slice_id AS next_slice_id, o.open_ps AS begin_ps, f.from_ps AS stop_ps
  FROM after_gaps AS f
  INNER JOIN observed AS o ON o.piece_id = f.piece_id
  WHERE f.covered_ps IS NULL AND f.from_ps > o.open_ps
  UNION ALL
  SELECT s.device_track_id, NULL AS next_slice_id, s.reached_ps AS begin_ps, s.close_ps AS stop_ps
  FROM stretches AS s
  WHERE s.close_ps > s.reached_ps
)

SELECT
  columns!(p, run_id, host_id, source_id, place, device, device_kind),
  g.begin_ps,
  g.stop_ps - g.begin_ps AS idle_ps,
  g.next_slice_id
FROM gaps AS g
INNER JOIN track_place AS p ON p.track_id = g.device_track_id

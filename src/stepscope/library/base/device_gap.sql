-- Idle time of devices
--
-- question: When was a device idle, within the window?
-- reads: device_load, step_window, track_place
-- notes: From the window's start to the first work, between works, and from the last work to the
--   window's end.
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   place | text | Place | device or host
--   device | text | Device | device that was idle
--   device_kind | text | Device kind | cpu, gpu, tpu or unknown
--   begin_ps | ps | Begin | start of the gap, from the capture's origin
--   idle_ps | ps | Idle | its length
--   next_slice_id | int | Next slice | slice that ended it; NULL at the window's end
WITH bounds AS (
  SELECT d.device_track_id, MAX(d.to_ps) AS last_ps
  FROM device_load AS d
  GROUP BY d.device_track_id
),

gaps AS (
  SELECT
    d.device_track_id,
    d.slice_id AS next_slice_id,
    COALESCE(d.covered_ps, w.open_ps) AS begin_ps,
    d.from_ps AS stop_ps
  FROM device_load AS d
  INNER JOIN track_place AS p ON p.track_id = d.device_track_id
  INNER JOIN step_window AS w ON w.source_id = p.source_id
  WHERE d.from_ps > COALESCE(d.covered_ps, w.open_ps)
  UNION ALL
  SELECT b.device_track_id, NULL AS next_slice_id, b.last_ps AS begin_ps, w.close_ps AS stop_ps
  FROM bounds AS b
  INNER JOIN track_place AS p ON p.track_id = b.device_track_id
  INNER JOIN step_window AS w ON w.source_id = p.source_id
  WHERE w.close_ps > b.last_ps
)

SELECT
  p.run_id,
  p.host_id,
  p.source_id,
  p.place,
  p.device,
  p.device_kind,
  g.begin_ps,
  g.stop_ps - g.begin_ps AS idle_ps,
  g.next_slice_id
FROM gaps AS g
INNER JOIN track_place AS p ON p.track_id = g.device_track_id

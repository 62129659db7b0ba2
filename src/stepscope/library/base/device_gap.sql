-- Idle time of devices
--
-- question: When was a device idle, within the window?
-- reads: device_load, step_window
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
  SELECT
    d.run_id,
    d.host_id,
    d.source_id,
    d.place,
    d.device,
    d.device_kind,
    MAX(d.to_ps) AS last_ps
  FROM device_load AS d
  GROUP BY d.run_id, d.host_id, d.source_id, d.place, d.device, d.device_kind
)

SELECT
  d.run_id,
  d.host_id,
  d.source_id,
  d.place,
  d.device,
  d.device_kind,
  COALESCE(d.covered_ps, w.open_ps) AS begin_ps,
  d.from_ps - COALESCE(d.covered_ps, w.open_ps) AS idle_ps,
  d.slice_id AS next_slice_id
FROM device_load AS d
INNER JOIN step_window AS w ON w.source_id = d.source_id
WHERE d.from_ps > COALESCE(d.covered_ps, w.open_ps)
UNION ALL
SELECT
  b.run_id,
  b.host_id,
  b.source_id,
  b.place,
  b.device,
  b.device_kind,
  b.last_ps AS begin_ps,
  w.close_ps - b.last_ps AS idle_ps,
  NULL AS next_slice_id
FROM bounds AS b
INNER JOIN step_window AS w ON w.source_id = b.source_id
WHERE w.close_ps > b.last_ps

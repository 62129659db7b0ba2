-- How fast are the fastest copies between host and devices, and within a device, as recorded?
--
-- reads: rollup_op, slice, track_place, track, device
-- columns:
--   source_id, run_id, host_id
--   device | text | device that copies
--   about_json | text | what is known of it
--   way | text | link: between host and device; memory: within a device
--   name | text | what the copies are called
--   copies | int | copies with bytes and a duration
--   bytes | float | their bytes
--   took_ps | ps | their durations, added up
WITH copies AS (
  SELECT
    r.id,
    r.name AS called,
    p.device AS of_device,
    d.args_json AS about_json,
    CASE
      WHEN r.name LIKE '%HtoD%' OR r.name LIKE '%DtoH%' OR r.name LIKE '%H2D%' OR r.name LIKE '%D2H%' THEN 'link'
      WHEN r.name LIKE '%DtoD%' OR r.name LIKE '%D2D%' THEN 'memory'
    END AS goes
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  INNER JOIN track AS t ON t.id = r.track_id
  LEFT JOIN device AS d ON d.id = t.device_id
  WHERE p.place = 'device' AND r.class = 'copy'
),

told AS (
  SELECT
    columns!(s, source_id, run_id, host_id),
    columns!(c, of_device, about_json, goes, called),
    s.dur_ps,
    COALESCE(
      TRY_CAST(arg!(s.args_json, bytes) AS DOUBLE),
      TRY_CAST(arg!(s.args_json, size) AS DOUBLE)
    ) AS moved
  FROM slice AS s
  INNER JOIN copies AS c ON c.id = s.rollup_id
  WHERE c.goes IS NOT NULL AND s.dur_ps > 0 AND s.args_json IS NOT NULL
)

-- Which copies have bytes is not asked in WHERE: an engine would read the args of all slices to leave some out.
SELECT
  columns!(t, source_id, run_id, host_id),
  t.of_device AS device,
  t.about_json,
  t.goes AS way,
  t.called AS name,
  CAST(sum_where!(t.moved > 0, 1) AS BIGINT) AS copies,
  SUM(CASE WHEN t.moved > 0 THEN t.moved END) AS bytes,
  CAST(SUM(CASE WHEN t.moved > 0 THEN t.dur_ps END) AS BIGINT) AS took_ps
FROM told AS t
GROUP BY columns!(t, source_id, run_id, host_id, of_device, about_json, goes, called)
HAVING sum_where!(t.moved > 0, 1) > 0
ORDER BY nulls_last!(t.source_id, t.of_device, t.called)

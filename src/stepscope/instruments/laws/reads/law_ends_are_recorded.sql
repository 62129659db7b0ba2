-- How many slices lie or end long before or after the time that is judged, in sources without steps?
--
-- reads: slice, step, track_place
-- parameters:
--   hour_ps | int | how long before or after it at least
-- columns:
--   source_id, run_id, host_id
--   strays | int | those that lie there
--   away_ps | ps | how long before or after it the farthest of them begins
--   open_slices | int | others, that only end there
--   later_ps | ps | how long after it the last of them ends
--   slices | int | all of the source
WITH judged AS (
  SELECT s.source_id AS of_source, MIN(s.ts_ps) AS from_ps, MAX(s.ts_ps + s.dur_ps) AS until_ps
  FROM step AS s
  WHERE s.recovered_from = 'whole_capture'
  GROUP BY s.source_id
),

placed AS (
  SELECT
    columns!(s, source_id, run_id, host_id),
    CASE WHEN s.ts_ps < j.from_ps THEN j.from_ps - s.ts_ps ELSE s.ts_ps - j.until_ps END AS begins_away_ps,
    s.ts_ps + s.dur_ps - j.until_ps AS ends_later_ps
  FROM slice AS s
  INNER JOIN judged AS j ON j.of_source = s.source_id
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE p.place <> 'none'
)

SELECT
  columns!(p, source_id, run_id, host_id),
  COUNT(CASE WHEN p.begins_away_ps > $hour_ps THEN 1 END) AS strays,
  MAX(p.begins_away_ps) AS away_ps,
  COUNT(CASE WHEN p.begins_away_ps <= $hour_ps AND p.ends_later_ps > $hour_ps THEN 1 END) AS open_slices,
  MAX(CASE WHEN p.begins_away_ps <= $hour_ps THEN p.ends_later_ps END) AS later_ps,
  COUNT(*) AS slices
FROM placed AS p
GROUP BY p.source_id, p.run_id, p.host_id
HAVING MAX(p.begins_away_ps) > $hour_ps OR MAX(p.ends_later_ps) > $hour_ps
ORDER BY p.source_id NULLS LAST

-- How many slices end long after the time that is judged, in sources without steps?
--
-- reads: slice, step, track_place
-- parameters:
--   hour_ps | int | how long after it at least
-- columns:
--   source_id, run_id, host_id
--   open_slices | int | those that do
--   slices | int | all of the source
--   later_ps | ps | how long after it the last of them ends
WITH judged AS (
  SELECT s.source_id AS of_source, MAX(s.ts_ps + s.dur_ps) AS until_ps
  FROM step AS s
  WHERE s.recovered_from = 'whole_capture'
  GROUP BY s.source_id
)

SELECT
  columns!(s, source_id, run_id, host_id),
  CAST(SUM(CASE WHEN s.ts_ps + s.dur_ps > j.until_ps + $hour_ps THEN 1 ELSE 0 END) AS BIGINT) AS open_slices,
  CAST(COUNT(*) AS BIGINT) AS slices,
  CAST(MAX(s.ts_ps + s.dur_ps - j.until_ps) AS BIGINT) AS later_ps
FROM slice AS s
INNER JOIN judged AS j ON j.of_source = s.source_id
INNER JOIN track_place AS p ON p.track_id = s.track_id
WHERE p.place <> 'none'
GROUP BY s.source_id, s.run_id, s.host_id
HAVING MAX(s.ts_ps + s.dur_ps - j.until_ps) > $hour_ps
ORDER BY s.source_id NULLS LAST

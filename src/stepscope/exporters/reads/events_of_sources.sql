-- Which counters, flows, instants and slices does each source have, how many of them on no track, and when?
--
-- reads: counter, flow, instant, slice, track
-- columns:
--   event_table | text | counter, flow, instant or slice
--   source_id
--   events | int | how many
--   off_track | int | those on no track
--   first_id | int | least number
--   last_id | int | greatest number
--   start_ps | ps | first moment
--   end_ps | ps | last moment
WITH seen AS (
  SELECT 'counter' AS of_table, columns!(c, source_id, track_id), c.id AS event_id, c.ts_ps AS from_ps, c.ts_ps AS to_ps
  FROM counter AS c
  UNION ALL
  SELECT 'flow' AS of_table, columns!(f, source_id, track_id), f.id AS event_id, f.ts_ps AS from_ps, f.ts_ps AS to_ps
  FROM flow AS f
  UNION ALL
  SELECT 'instant' AS of_table, columns!(i, source_id, track_id), i.id AS event_id, i.ts_ps AS from_ps, i.ts_ps AS to_ps
  FROM instant AS i
  UNION ALL
  SELECT
    'slice' AS of_table,
    columns!(s, source_id, track_id),
    s.id AS event_id,
    s.ts_ps AS from_ps,
    s.ts_ps + s.dur_ps AS to_ps
  FROM slice AS s
)

SELECT
  e.of_table AS event_table,
  e.source_id,
  COUNT(*) AS events,
  COUNT(CASE WHEN t.id IS NULL THEN 1 END) AS off_track,
  MIN(e.event_id) AS first_id,
  MAX(e.event_id) AS last_id,
  MIN(e.from_ps) AS start_ps,
  MAX(e.to_ps) AS end_ps
FROM seen AS e
LEFT JOIN track AS t ON t.id = e.track_id
GROUP BY e.of_table, e.source_id
ORDER BY nulls_last!(event_table, e.source_id)

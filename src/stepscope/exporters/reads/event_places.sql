-- How many counters, flows, instants and slices are there, and how many of them lie on no track?
--
-- reads: counter, flow, instant, slice, track
-- columns:
--   event_table | text | counter, flow, instant or slice
--   events | int | how many
--   off_track | int | those on no track
SELECT 'counter' AS event_table, COUNT(*) AS events, COUNT(CASE WHEN t.id IS NULL THEN 1 END) AS off_track
FROM counter AS c
LEFT JOIN track AS t ON t.id = c.track_id
UNION ALL
SELECT 'flow' AS event_table, COUNT(*) AS events, COUNT(CASE WHEN t.id IS NULL THEN 1 END) AS off_track
FROM flow AS f
LEFT JOIN track AS t ON t.id = f.track_id
UNION ALL
SELECT 'instant' AS event_table, COUNT(*) AS events, COUNT(CASE WHEN t.id IS NULL THEN 1 END) AS off_track
FROM instant AS i
LEFT JOIN track AS t ON t.id = i.track_id
UNION ALL
SELECT 'slice' AS event_table, COUNT(*) AS events, COUNT(CASE WHEN t.id IS NULL THEN 1 END) AS off_track
FROM slice AS s
LEFT JOIN track AS t ON t.id = s.track_id
ORDER BY event_table NULLS LAST

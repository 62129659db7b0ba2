-- How many instants are there, and how many of them lie on no track?
--
-- reads: instant, track
-- columns:
--   events | int | how many
--   off_track | int | those on no track
SELECT COUNT(*) AS events, COUNT(CASE WHEN t.id IS NULL THEN 1 END) AS off_track
FROM instant AS i
LEFT JOIN track AS t ON t.id = i.track_id

-- On which tracks of a source does anything run, and which of them are streams of devices?
--
-- reads: track_place
-- parameters: source_id
-- columns:
--   track_id
--   on_device | bool | it is a stream of a device: what lies on it runs in the order in which it was launched
SELECT p.track_id, p.place = 'device' AS on_device
FROM track_place AS p
WHERE p.source_id = $source_id AND p.place <> 'none'
ORDER BY p.track_id NULLS LAST

-- Which numbers do the tracks of each source have?
--
-- reads: track
-- columns:
--   source_id
--   first_id | int | least number
--   last_id | int | greatest number
SELECT t.source_id, MIN(t.id) AS first_id, MAX(t.id) AS last_id
FROM track AS t
GROUP BY t.source_id
ORDER BY t.source_id NULLS LAST

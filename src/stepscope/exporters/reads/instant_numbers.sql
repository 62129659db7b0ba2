-- Which numbers do the instants of each source have?
--
-- reads: instant
-- columns:
--   source_id
--   first_id | int | least number
--   last_id | int | greatest number
SELECT i.source_id, MIN(i.id) AS first_id, MAX(i.id) AS last_id
FROM instant AS i
GROUP BY i.source_id
ORDER BY i.source_id NULLS LAST

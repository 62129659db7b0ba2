-- Which numbers do the slices of each source have?
--
-- reads: slice
-- columns:
--   source_id
--   first_id | int | least number
--   last_id | int | greatest number
SELECT s.source_id, MIN(s.id) AS first_id, MAX(s.id) AS last_id
FROM slice AS s
GROUP BY s.source_id
ORDER BY s.source_id NULLS LAST

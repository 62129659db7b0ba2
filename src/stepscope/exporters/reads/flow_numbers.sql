-- Which numbers do the flows of each source have?
--
-- reads: flow
-- columns:
--   source_id
--   first_id | int | least number
--   last_id | int | greatest number
SELECT f.source_id, MIN(f.id) AS first_id, MAX(f.id) AS last_id
FROM flow AS f
GROUP BY f.source_id
ORDER BY f.source_id NULLS LAST

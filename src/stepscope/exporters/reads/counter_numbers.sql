-- Which numbers do the counters of each source have?
--
-- reads: counter
-- columns:
--   source_id
--   first_id | int | least number
--   last_id | int | greatest number
SELECT c.source_id, MIN(c.id) AS first_id, MAX(c.id) AS last_id
FROM counter AS c
GROUP BY c.source_id
ORDER BY c.source_id NULLS LAST

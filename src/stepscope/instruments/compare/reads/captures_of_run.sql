-- When did the captures of each run begin, and does a source of it have an error?
--
-- reads: source, capture
-- columns:
--   run_id
--   source_count | int | files
--   failed_count | int | files that could not be read
--   failed_path | text | one of these
--   failure | text | why
--   origin_unix_ns | unix_ns | earliest begin; NULL where no file tells
WITH begun AS (
  SELECT c.source_id, MIN(c.origin_unix_ns) AS begin_ns
  FROM capture AS c
  GROUP BY c.source_id
)

SELECT
  s.run_id,
  COUNT(*) AS source_count,
  COUNT(s.error) AS failed_count,
  MIN(CASE WHEN s.error IS NOT NULL THEN s.path END) AS failed_path,
  MIN(s.error) AS failure,
  MIN(b.begin_ns) AS origin_unix_ns
FROM source AS s
LEFT JOIN begun AS b ON b.source_id = s.source_id
GROUP BY s.run_id
ORDER BY s.run_id NULLS LAST

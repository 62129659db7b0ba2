-- Sources
--
-- question: Of which run and host is each source?
-- reads: source
-- columns:
--   source_id | int | source
--   run_id | text | its run
--   host_id | text | its host
SELECT s.source_id, s.run_id, s.host_id
FROM source AS s
ORDER BY s.source_id NULLS LAST

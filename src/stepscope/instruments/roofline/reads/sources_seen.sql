-- Of which run and host is each source?
--
-- reads: source
-- columns:
--   source_id, run_id, host_id
SELECT s.source_id, s.run_id, s.host_id
FROM source AS s
ORDER BY s.source_id NULLS LAST

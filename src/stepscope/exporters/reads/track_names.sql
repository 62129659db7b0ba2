-- What are tracks called, and where do they belong?
--
-- reads: track
-- columns:
--   id, process, name, run_id, host_id
SELECT t.id, t.process, t.name, t.run_id, t.host_id
FROM track AS t
ORDER BY t.id NULLS LAST

-- When did the captures of a run on a host begin?
--
-- reads: capture
-- parameters: run_id, host_id
-- columns:
--   source_id, origin_unix_ns
SELECT c.source_id, c.origin_unix_ns
FROM capture AS c
WHERE c.origin_unix_ns IS NOT NULL AND c.run_id = $run_id AND c.host_id = $host_id
ORDER BY nulls_last!(c.source_id, c.origin_unix_ns)

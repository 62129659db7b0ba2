-- When did each execution of a source end, and what does it keep?
--
-- reads: op_run
-- parameters: source_id
-- columns:
--   id, end_ps, persistent_bytes
SELECT r.id, r.end_ps, r.persistent_bytes
FROM op_run AS r
WHERE r.source_id = $source_id
ORDER BY r.id NULLS LAST

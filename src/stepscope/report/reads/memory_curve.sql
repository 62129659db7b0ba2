-- When did an allocator hold what?
--
-- reads: buffer
-- parameters: source_id, allocator
-- columns:
--   op_name, bytes, born_ps, freed_ps
SELECT b.op_name, b.bytes, b.born_ps, b.freed_ps
FROM buffer AS b
WHERE b.source_id = $source_id AND b.allocator = $allocator
ORDER BY nulls_last!(b.born_ps, b.id)

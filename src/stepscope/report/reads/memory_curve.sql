-- Blocks of an allocator over time
--
-- question: When did an allocator hold what?
-- reads: buffer
-- parameters:
--   source_id | int | source to look at
--   allocator | text | name of the allocator
-- columns:
--   op_name | text | op that asked for it
--   bytes | bytes | size
--   born_ps | ps | when it was allocated
--   freed_ps | ps | when it was freed
SELECT b.op_name, b.bytes, b.born_ps, b.freed_ps
FROM buffer AS b
WHERE b.source_id = $source_id AND b.allocator = $allocator
ORDER BY nulls_last!(b.born_ps, b.id)

-- Which ops held the peak of an allocator?
--
-- reads: buffer
-- parameters: source_id, allocator
-- columns:
--   op_name
--   held_bytes | bytes | held at the peak
--   blocks | int | blocks of it
SELECT b.op_name, sum!(b.bytes) AS held_bytes, COUNT(*) AS blocks
FROM buffer AS b
WHERE b.at_peak AND b.source_id = $source_id AND b.allocator = $allocator
GROUP BY b.op_name
ORDER BY nulls_last!(held_bytes DESC, b.op_name)

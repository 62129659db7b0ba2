-- What kinds of memory made up the peak of an allocator?
--
-- reads: buffer
-- parameters: source_id, allocator
-- columns:
--   kind
--   held_bytes | bytes | held at the peak
--   blocks | int | blocks of it
SELECT b.kind, sum!(b.bytes) AS held_bytes, COUNT(*) AS blocks
FROM buffer AS b
WHERE b.at_peak AND b.source_id = $source_id AND b.allocator = $allocator
GROUP BY b.kind
ORDER BY nulls_last!(held_bytes DESC, b.kind)

-- Which lines of the program held the peak of an allocator?
--
-- reads: buffer
-- parameters: source_id, allocator
-- columns:
--   file, line, function
--   held_bytes | bytes | held at the peak
--   blocks | int | blocks of it
SELECT b.file, b.line, b.function, sum!(b.bytes) AS held_bytes, COUNT(*) AS blocks
FROM buffer AS b
WHERE b.at_peak AND b.source_id = $source_id AND b.allocator = $allocator
GROUP BY b.file, b.line, b.function
ORDER BY nulls_last!(held_bytes DESC, b.file, b.line, b.function)

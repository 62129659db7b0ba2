-- Which frame does each stack of some sources add to the one around it?
--
-- reads: stack, frame
-- notes: A stack has a greater number than the one that it continues.
-- parameters: sources
-- columns:
--   source_id, id, parent_id, file, line, function, code, has_loop
SELECT k.source_id, k.id, k.parent_id, f.file, f.line, f.function, f.code, f.has_loop
FROM stack AS k
INNER JOIN frame AS f ON f.id = k.frame_id
WHERE k.source_id IN $sources
ORDER BY k.id NULLS LAST

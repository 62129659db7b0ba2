-- Which frame does each stack add to the one around it?
--
-- reads: stack, frame
-- columns:
--   id, parent_id, function, file, line, code
SELECT k.id, k.parent_id, f.function, f.file, f.line, f.code
FROM stack AS k
INNER JOIN frame AS f ON f.id = k.frame_id
ORDER BY k.id NULLS LAST

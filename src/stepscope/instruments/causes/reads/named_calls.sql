-- In which sources do names of slices tell calls of Python by the names of their files?
--
-- reads: rollup_op
-- columns:
--   source_id
SELECT r.source_id
FROM rollup_op AS r
WHERE r.name LIKE '$%.py:%'
GROUP BY r.source_id
ORDER BY r.source_id NULLS LAST

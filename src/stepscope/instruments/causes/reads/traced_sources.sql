-- In which sources did PyTorch trace calls of Python?
--
-- reads: rollup_op
-- columns:
--   source_id
SELECT r.source_id
FROM rollup_op AS r
WHERE r.category = 'python_function'
GROUP BY r.source_id
ORDER BY r.source_id NULLS LAST

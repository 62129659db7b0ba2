-- Sources with iterators
--
-- question: Which sources have calls of tf.data iterators?
-- reads: rollup_op
-- notes: One prefix is found quickly, even among many names that are others.
-- columns:
--   source_id | int | number of the source
SELECT r.source_id
FROM rollup_op AS r
WHERE r.name LIKE 'Iterator%::%'
GROUP BY r.source_id
ORDER BY r.source_id NULLS LAST

-- Which sources have calls of tf.data iterators, or ops of a session that take a batch from one?
--
-- reads: rollup_op, track
-- notes: One prefix is found quickly, even among many names that are others.
-- columns:
--   source_id
SELECT r.source_id
FROM rollup_op AS r
INNER JOIN track AS t ON t.id = r.track_id
WHERE
  r.name LIKE 'Iterator%::%'
  OR (t.kind = 'lane' AND t.records <> 'annotation' AND r.op_type LIKE 'IteratorGetNext%')
GROUP BY r.source_id
ORDER BY r.source_id NULLS LAST

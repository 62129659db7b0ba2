-- Which sources may say something about memory?
--
-- reads: allocation, edge, rollup_op, instant, source, source_note
-- columns:
--   source_id
--   has_times | int | 0 where it has the order of changes and no times, 1 otherwise
WITH found AS (
  SELECT a.source_id
  FROM allocation AS a
  UNION ALL
  SELECT e.source_id
  FROM edge AS e
  WHERE e.graph LIKE '%partition/%'
  UNION ALL
  SELECT r.source_id
  FROM rollup_op AS r
  WHERE r.name IN ('MemoryAllocation', 'MemoryDeallocation')
  UNION ALL
  SELECT i.source_id
  FROM instant AS i
  WHERE i.name IN ('[memory]', '[memory profile]', '[held]') OR i.category = 'Tensor'
  UNION ALL
  SELECT s.source_id
  FROM source AS s
  WHERE s.kind = 'memory'
)

SELECT f.source_id, MIN(CASE WHEN n.slug IS NULL THEN 1 ELSE 0 END) AS has_times
FROM found AS f
LEFT JOIN source_note AS n ON n.source_id = f.source_id AND n.slug = 'memory-without-times'
GROUP BY f.source_id
ORDER BY f.source_id NULLS LAST

-- Sources with memory
--
-- question: Which sources may say something about memory?
-- reads: allocation, edge, rollup_op, instant, source
-- columns:
--   source_id
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

SELECT f.source_id
FROM found AS f
GROUP BY f.source_id
ORDER BY f.source_id NULLS LAST

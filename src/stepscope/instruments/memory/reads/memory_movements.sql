-- How many movements of memory does a source record, by how it records them?
--
-- reads: allocation, slice, instant
-- parameters: source_id
-- columns:
--   place | int | 1, 2 or 3: the one to believe first
--   recorder | text | records, events or instants
--   movements | int | how many
WITH counted AS (
  SELECT 1 AS place, 'records' AS recorder, COUNT(*) AS movements
  FROM allocation AS a
  WHERE a.source_id = $source_id AND a.delta_bytes <> 0
  UNION ALL
  SELECT 2 AS place, 'events' AS recorder, COUNT(*) AS movements
  FROM slice AS s
  WHERE s.source_id = $source_id AND s.name IN ('MemoryAllocation', 'MemoryDeallocation')
  UNION ALL
  SELECT 3 AS place, 'instants' AS recorder, COUNT(*) AS movements
  FROM instant AS i
  WHERE i.source_id = $source_id AND i.name = '[memory]'
)

SELECT c.place, c.recorder, c.movements
FROM counted AS c
ORDER BY c.place NULLS LAST

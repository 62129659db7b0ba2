-- Movements of memory
--
-- question: How many movements of memory does a source record, by how it records them?
-- reads: allocation, slice, instant
-- parameters:
--   source_id | int | source to look at
-- columns:
--   recorder | text | records, events or instants
--   movements | int | how many
SELECT 'records' AS recorder, COUNT(*) AS movements
FROM allocation AS a
WHERE a.source_id = $source_id AND a.delta_bytes <> 0
UNION ALL
SELECT 'events' AS recorder, COUNT(*) AS movements
FROM slice AS s
WHERE s.source_id = $source_id AND s.name IN ('MemoryAllocation', 'MemoryDeallocation')
UNION ALL
SELECT 'instants' AS recorder, COUNT(*) AS movements
FROM instant AS i
WHERE i.source_id = $source_id AND i.name = '[memory]'

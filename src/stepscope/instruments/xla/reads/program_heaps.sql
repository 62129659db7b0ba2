-- How much of the heaps of some programs is needed at once, and when?
--
-- reads: hlo_allocation, hlo_module
-- parameters:
--   modules | ints | rows of hlo_module
-- columns:
--   module_id, needed_bytes
--   reserved_bytes | bytes | size of the allocation
--   peak_instruction, allocation
SELECT
  columns!(a, module_id, needed_bytes),
  a.bytes AS reserved_bytes,
  columns!(a, peak_instruction, allocation)
FROM hlo_allocation AS a
INNER JOIN hlo_module AS m ON m.id = a.module_id AND COALESCE(m.stage, '') = COALESCE(a.stage, '')
WHERE a.needed_bytes IS NOT NULL AND a.module_id IN $modules
ORDER BY nulls_last!(a.module_id, a.allocation)

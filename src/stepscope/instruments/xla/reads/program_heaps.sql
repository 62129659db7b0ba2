-- Heaps of programs
--
-- question: How much of the heaps of some programs is needed at once, and when?
-- reads: hlo_allocation, hlo_module
-- parameters:
--   modules | ints | rows of hlo_module
-- columns:
--   module_id | int | row of hlo_module
--   needed_bytes | bytes | the most that lives at once
--   reserved_bytes | bytes | size of the allocation
--   peak_instruction | text | instruction after which the most lives
--   allocation | int | number of the allocation
SELECT
  columns!(a, module_id, needed_bytes),
  a.bytes AS reserved_bytes,
  columns!(a, peak_instruction, allocation)
FROM hlo_allocation AS a
INNER JOIN hlo_module AS m ON m.id = a.module_id AND COALESCE(m.stage, '') = COALESCE(a.stage, '')
WHERE a.needed_bytes IS NOT NULL AND a.module_id IN $modules
ORDER BY nulls_last!(a.module_id, a.allocation)

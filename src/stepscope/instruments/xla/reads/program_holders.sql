-- Which values hold the memory of some programs when the heap needs most?
--
-- reads: hlo_buffer, hlo_instruction, hlo_module
-- parameters:
--   modules | ints | rows of hlo_module
-- columns:
--   module_id, class, bytes, instruction, opcode, shape, op_name, file, line
SELECT
  columns!(b, module_id, class, bytes, instruction),
  columns!(i, opcode, shape, op_name, file, line)
FROM hlo_buffer AS b
INNER JOIN hlo_module AS m ON m.id = b.module_id AND COALESCE(m.stage, '') = COALESCE(b.stage, '')
LEFT JOIN hlo_instruction AS i
  ON i.module_id = b.module_id AND COALESCE(i.pass_id, -1) = COALESCE(b.pass_id, -1) AND i.name = b.instruction
WHERE b.at_peak AND b.module_id IN $modules
ORDER BY nulls_last!(b.module_id, b.bytes DESC, b.instruction, b.id)

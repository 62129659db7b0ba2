-- What does each instruction of a program that runs make, and of what?
--
-- reads: hlo_instruction, hlo_module
-- columns:
--   source_id, module, program_id, name, opcode, shape, operands_json, target
SELECT h.source_id, h.module, h.program_id, h.name, h.opcode, h.shape, h.operands_json, h.target
FROM hlo_instruction AS h
INNER JOIN hlo_module AS m ON m.id = h.module_id
WHERE m.is_final AND (h.pass_id IS NULL OR h.stage = m.stage)
ORDER BY h.id NULLS LAST

-- Shapes of instructions
--
-- question: What does each instruction of a program that runs make, and of what?
-- reads: hlo_instruction, hlo_module
-- columns:
--   source_id
--   module | text | name of the program
--   program_id | text | number of the program; empty when no file says it
--   name | text | its name
--   opcode | text | what it does
--   shape | text | what it makes
--   operands_json | text | names of the instructions that it uses
--   target | text | what a custom call calls
SELECT h.source_id, h.module, h.program_id, h.name, h.opcode, h.shape, h.operands_json, h.target
FROM hlo_instruction AS h
INNER JOIN hlo_module AS m ON m.id = h.module_id
WHERE m.is_final AND (h.pass_id IS NULL OR h.stage = m.stage)
ORDER BY h.id NULLS LAST

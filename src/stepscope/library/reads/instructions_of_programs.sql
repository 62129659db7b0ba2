-- Instructions of compiled programs
--
-- question: Which instructions does each compiled program have that a recording keeps?
-- reads: hlo_instruction
-- columns:
--   source_id | int | source it was read from
--   program_id | text | its program
--   module | text | name of the program
--   name | text | its name
--   opcode | text | what it does
--   op_name | text | the framework's name of the op it was made of
--   file | text | file of the innermost Python call that made it
--   line | int | line in that file
SELECT h.source_id, h.program_id, h.module, h.name, h.opcode, h.op_name, h.file, h.line
FROM hlo_instruction AS h
WHERE h.module_id IS NULL
ORDER BY h.source_id NULLS LAST, h.id NULLS LAST

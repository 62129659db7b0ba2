-- Which op and which calls made each instruction?
--
-- reads: hlo_instruction
-- notes: Slices are met with the programs of their own recording only.
-- columns:
--   source_id, program_id, name, op_name, stack_json
SELECT h.source_id, h.program_id, h.name, h.op_name, h.stack_json
FROM hlo_instruction AS h
WHERE h.pass_id IS NULL
ORDER BY nulls_last!(h.source_id, h.id)

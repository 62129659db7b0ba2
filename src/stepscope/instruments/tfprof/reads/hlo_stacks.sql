-- What instructions of XLA were made of
--
-- question: Which op and which calls made each instruction?
-- reads: hlo_instruction
-- notes: Slices are met with the programs of their own recording only.
-- columns:
--   source_id
--   program_id | text | its program
--   name | text | its name
--   op_name | text | the framework's name of the op it was made of
--   stack_json | text | the calls that made it, as in hlo_instruction
SELECT h.source_id, h.program_id, h.name, h.op_name, h.stack_json
FROM hlo_instruction AS h
WHERE h.pass_id IS NULL
ORDER BY nulls_last!(h.source_id, h.id)

-- Which programs that XLA compiled does a lake hold, and how large is each?
--
-- reads: hlo_module
-- notes: The files that they were read from may be gone: page_stored_instructions has what a graph needs.
-- columns:
--   run_id, source_id
--   module_id | int | row of hlo_module
--   module, program_id
--   nodes | int | its instructions
SELECT m.run_id, m.source_id, m.id AS module_id, m.module, m.program_id, m.instructions AS nodes
FROM hlo_module AS m
WHERE m.is_final AND m.instructions IS NOT NULL
ORDER BY nulls_last!(nodes DESC, m.source_id, m.module, m.id)

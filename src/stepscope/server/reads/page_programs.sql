-- Which programs that XLA compiled do recordings keep, and how large is each?
--
-- reads: hlo_module
-- notes: Those of dumps have stages; their files are looked for in the folders that were given.
-- columns:
--   run_id, source_id, module, program_id
--   nodes | int | its instructions
SELECT m.run_id, m.source_id, m.module, m.program_id, m.instructions AS nodes
FROM hlo_module AS m
WHERE m.is_final AND m.stages + m.passes = 0 AND m.instructions IS NOT NULL
ORDER BY nulls_last!(nodes DESC, m.source_id, m.module, m.program_id)

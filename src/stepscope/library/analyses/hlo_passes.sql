-- Passes of the compiler
--
-- question: Which passes changed the compiled programs, and by how much?
-- reads: hlo_pass
-- notes: From dump folders that were written with --xla_dump_hlo_pass_re. A row compares a dump with the one before of
--   the same module; dumps that equal it byte for byte are left out. Costs are those that XLA counts.
-- columns:
--   run_id | text | Run | name of the run
--   module, program_id
--   pass_number | int | Number | of the dump; none of a whole stage
--   after_pass | text | Pass | the pass that had just run; of a whole stage, the stage
--   instructions | int | Instructions | after it
--   instructions_added | int | Change | instructions more than in the dump before
--   fusions_added | int | Fusions | fusions more than in the dump before
--   flops_added | float | Flops | flops more than in the dump before
--   bytes_added | float | Bytes moved | bytes read and written more than in the dump before
--   changed | text | Opcodes | opcodes that became more or fewer
WITH after AS (
  SELECT
    p.id, p.run_id, p.module_id, p.module, p.program_id, p.pass_number, p.pass_name, p.stage, p.instructions,
    p.fusions, p.flops, p.bytes, p.equals_before, p.changed,
    LAG(p.instructions) OVER (PARTITION BY p.module_id ORDER BY p.id NULLS LAST) AS instructions_before,
    LAG(p.fusions) OVER (PARTITION BY p.module_id ORDER BY p.id NULLS LAST) AS fusions_before,
    LAG(p.flops) OVER (PARTITION BY p.module_id ORDER BY p.id NULLS LAST) AS flops_before,
    LAG(p.bytes) OVER (PARTITION BY p.module_id ORDER BY p.id NULLS LAST) AS bytes_before
  FROM hlo_pass AS p
)

SELECT
  columns!(a, run_id, module, program_id, pass_number),
  COALESCE(a.pass_name, a.stage) AS after_pass,
  a.instructions,
  a.instructions - a.instructions_before AS instructions_added,
  a.fusions - a.fusions_before AS fusions_added,
  a.flops - a.flops_before AS flops_added,
  a.bytes - a.bytes_before AS bytes_added,
  a.changed
FROM after AS a
WHERE a.instructions_before IS NOT NULL AND a.instructions IS NOT NULL AND NOT a.equals_before
ORDER BY nulls_last!(a.module_id, a.id)

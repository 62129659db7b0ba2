-- Fusions spill registers
--
-- question: Which kernels need more registers than there are?
-- reads: hlo_case, _dumped_program
-- severity: medium
-- impact: {instruction}[ in {program}] spills {spilled_bytes} in each thread[, {file}:{line}].
-- action: Split the fusion (jax.lax.optimization_barrier), or compute less at once.
-- reasoning: A kernel that needs more registers than there are keeps values in memory, which is far slower. Only the
--   program's log reports this; while XLA tunes a fusion, it also reports candidates that are then dropped.
-- formula: kernels that ptxas or AMD's backend warn of in a log beside the dump; the last line of each counts.
-- columns:
--   run_id, program, module, program_id, instruction
--   what | text | What | how it spills
--   spilled_bytes | bytes | Spilled | bytes that each thread stores and loads again
--   op, file, line
SELECT
  'medium' AS severity,
  c.run_id,
  columns!(p, program, module, program_id),
  columns!(c, instruction, what),
  c.value AS spilled_bytes,
  c.op_name AS op,
  columns!(c, file, line)
FROM hlo_case AS c
LEFT JOIN _dumped_program AS p ON p.module_id = c.module_id
WHERE c.kind = 'spill'
ORDER BY nulls_last!(c.value DESC, c.id)

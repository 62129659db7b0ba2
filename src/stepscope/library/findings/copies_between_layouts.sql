-- Copies and transposes take much of the memory traffic
--
-- question: Which copies only change the layout of values?
-- reads: hlo_case, _dumped_program
-- severity: medium
-- impact: {instruction} in {program} moves {moved_bytes} ({share} of the program's) from {what}[, {file}:{line}].
-- action: Keep one layout through the model, transpose weights once, or let XLA choose the layout of outputs.
-- reasoning: A copy into another layout computes nothing, and reads and writes every element.
-- formula: bytes of copies whose layouts differ, of transposes, and of fusions of nothing else, as often as they
--   run; reported from 1 MiB and a tenth of the program's bytes on.
-- columns:
--   run_id, program, module, program_id, instruction
--   what | text | What | layouts before and after
--   moved_bytes | bytes | Moved | bytes that it reads and writes in a run
--   share | ratio | Share | of the program
--   op, file, line
SELECT
  'medium' AS severity,
  c.run_id,
  columns!(p, program, module, program_id),
  columns!(c, instruction, what),
  c.value AS moved_bytes,
  c.share,
  c.op_name AS op,
  columns!(c, file, line)
FROM hlo_case AS c
LEFT JOIN _dumped_program AS p ON p.module_id = c.module_id
WHERE c.kind = 'layout_copy'
ORDER BY nulls_last!(c.value DESC, c.id)

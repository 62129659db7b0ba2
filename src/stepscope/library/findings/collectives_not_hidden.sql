-- Collectives run while nothing else does
--
-- question: Which collectives run while nothing is computed?
-- reads: hlo_case, _dumped_program
-- severity: medium
-- impact: {instruction} in {program} communicates {sent_bytes} while nothing else runs[, {file}:{line}].
-- action: Turn the latency-hiding scheduler on, or split the work so that some of it can run meanwhile.
-- reasoning: Between the start of such a collective and its end the schedule has no instruction with work, so the
--   device waits for the network.
-- formula: scheduled programs: starts and ends without work in between; on GPUs and TPUs also collectives that are
--   one instruction.
-- columns:
--   run_id, program, module, program_id, instruction
--   what | text | What | opcode
--   sent_bytes | bytes | Size | of what a run communicates, as the shape of its result
--   op, file, line
SELECT
  'medium' AS severity,
  c.run_id,
  columns!(p, program, module, program_id),
  columns!(c, instruction, what),
  c.value AS sent_bytes,
  c.op_name AS op,
  columns!(c, file, line)
FROM hlo_case AS c
LEFT JOIN _dumped_program AS p ON p.module_id = c.module_id
WHERE c.kind = 'collective'
ORDER BY nulls_last!(c.value DESC, c.id)

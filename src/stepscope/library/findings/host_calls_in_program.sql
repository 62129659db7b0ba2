-- The program calls the host while it runs
--
-- question: Which programs call the host while they run?
-- reads: _dumped_instruction
-- severity: medium
-- impact: {instruction} in {program} calls {called} {calls} {calls:time|times} in a run[, {file}:{line}].
-- action: Compute it in the program, or call back less often (outside of loops, every hundredth step).
-- reasoning: The program waits for the host, its Python and the copies to and from it. Results and debug prints cost
--   the same.
-- formula: custom calls of Python or host callbacks, and infeeds and outfeeds.
-- columns:
--   run_id, program, module, program_id, instruction
--   called | text | Target | what it calls
--   calls | int | Calls | calls in a run; loops of unknown length count once
--   op, file, line
SELECT
  'medium' AS severity,
  columns!(i, run_id, program, module, program_id),
  i.name AS instruction,
  COALESCE(i.target, i.opcode) AS called,
  whole!(least!(i.times, 1000000000000000)) AS calls,
  i.op_name AS op,
  columns!(i, file, line)
FROM _dumped_instruction AS i
WHERE
  i.times > 0 AND (
    i.opcode IN ('infeed', 'outfeed')
    OR LOWER(i.target) LIKE '%python_callback%' OR LOWER(i.target) LIKE '%python_cpu_callback%'
    OR LOWER(i.target) LIKE '%python_gpu_callback%' OR LOWER(i.target) LIKE '%python_tpu_callback%'
    OR LOWER(i.target) LIKE '%host_callback%' OR LOWER(i.target) LIKE '%hostcallback%'
    OR LOWER(i.target) LIKE '%pyfunc%'
  )
ORDER BY nulls_last!(i.times DESC, i.id)

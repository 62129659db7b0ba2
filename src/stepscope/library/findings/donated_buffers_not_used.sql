-- Donated buffers are not used
--
-- question: Which donated arguments does no output reuse?
-- reads: hlo_case, _dumped_program
-- severity: medium
-- impact: Argument {argument}[ of {program}] gives {given_bytes} that no result takes ({what})[, {file}:{line}].
-- action: Return a value of the same shape, type and sharding, or do not donate the argument.
-- reasoning: A donated argument gives its memory to a result. If no result takes it, the program holds both, and the
--   caller has lost the array for nothing.
-- formula: arguments that JAX refuses, as its warning in a log beside the dump says, and parameters that are still
--   donors of a program after optimization, these from 64 KiB or a hundredth of its memory on.
-- columns:
--   run_id, program, module, program_id
--   argument | text | Argument | its name in the function, or its shape as a log says it
--   what | text | Argument | parameter and its shape, or that JAX refused it
--   given_bytes | bytes | Size | of the parameter on each device
--   share | ratio | Share | of the program
--   file, line
SELECT
  'medium' AS severity,
  c.run_id,
  columns!(p, program, module, program_id),
  COALESCE(c.op_name, c.instruction) AS argument,
  c.what,
  c.value AS given_bytes,
  columns!(c, share, file, line)
FROM hlo_case AS c
LEFT JOIN _dumped_program AS p ON p.module_id = c.module_id
WHERE c.kind = 'donor'
ORDER BY nulls_last!(c.value DESC, c.id)

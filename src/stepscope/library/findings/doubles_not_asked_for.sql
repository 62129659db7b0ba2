-- 64-bit floats are computed, though no parameter is one
--
-- question: Where do 64-bit floats come from, though no parameter is one?
-- reads: hlo_case, _dumped_program
-- severity: medium
-- impact: {instruction} in {program} makes {made_bytes} of 64-bit floats[, {file}:{line}].
-- action: Give constants and NumPy arrays a type (np.float32), or turn jax_enable_x64 off.
-- reasoning: 64-bit floats take twice the memory. Accelerators compute them many times slower, if at all.
-- formula: instructions that make f64 or c128 from anything else, in programs without such a parameter.
-- columns:
--   run_id, program, module, program_id, instruction
--   what | text | What | opcode
--   made_bytes | bytes | Size | of the values that it makes
--   op, file, line
SELECT
  'medium' AS severity,
  c.run_id,
  columns!(p, program, module, program_id),
  columns!(c, instruction, what),
  c.value AS made_bytes,
  c.op_name AS op,
  columns!(c, file, line)
FROM hlo_case AS c
LEFT JOIN _dumped_program AS p ON p.module_id = c.module_id
WHERE c.kind = 'double'
ORDER BY nulls_last!(c.value DESC, c.id)

-- Large constants are part of the program
--
-- question: Which large constants are part of programs?
-- reads: _dumped_instruction
-- severity: medium
-- impact: {instruction} in {program} is {held_bytes} large[, {file}:{line}].
-- action: Pass arrays as arguments instead of closing over them.
-- reasoning: A constant stays in memory as long as its program, once for each compile, and slows compiles down.
-- formula: constants of a program >= 1 MiB and >= a tenth of its memory; instructions from 64 KiB on.
-- columns:
--   run_id, program, module, program_id, instruction
--   shape | text | Shape | what it holds
--   held_bytes | bytes | Size | of the constant
--   share | ratio | Share | of the program's memory
--   op, file, line
WITH held AS (
  SELECT i.module_id, SUM(i.shape_bytes) AS constant_bytes
  FROM _dumped_instruction AS i
  WHERE i.opcode = 'constant'
  GROUP BY i.module_id
)

SELECT
  'medium' AS severity,
  columns!(i, run_id, program, module, program_id),
  i.name AS instruction,
  i.shape,
  i.shape_bytes AS held_bytes,
  CASE
    WHEN i.shape_bytes < i.allocated_bytes THEN CAST(i.shape_bytes AS DOUBLE) / i.allocated_bytes
    WHEN i.allocated_bytes > 0 THEN 1.0
  END AS share,
  i.op_name AS op,
  columns!(i, file, line)
FROM _dumped_instruction AS i
INNER JOIN held AS a ON a.module_id = i.module_id
WHERE
  i.opcode = 'constant' AND i.shape_bytes >= 65536
  AND a.constant_bytes >= 1048576 AND (i.allocated_bytes IS NULL OR a.constant_bytes >= 0.1 * i.allocated_bytes)
ORDER BY nulls_last!(i.shape_bytes DESC, i.id)

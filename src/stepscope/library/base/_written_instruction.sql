-- Which op of the program is behind each instruction of the compiled programs that run?
--
-- reads: hlo_instruction
-- notes: A fusion is called after its last instruction, which may be an addition after products of matrices. Where
--   those of one kind in it have more than half of its arithmetic, it is for them, and has their line if they have one
--   in common. Of programs in dump folders, the one that runs counts.
-- columns:
--   id | int | its row in hlo_instruction
--   run_id, module_id, name, opcode, fusion_kind
--   written_op | text | scopes and op of the program
--   in_file | text | file of the line that made it
--   on_line | int | line in that file
--   in_function | text | function that contains that line
WITH kinds AS (
  SELECT
    columns!(h, module_id, pass_id, computation, opcode),
    SUM(h.flops) AS kind_flops,
    MIN(h.op_name) AS kind_op,
    CASE WHEN MIN(h.file) = MAX(h.file) AND MIN(h.line) = MAX(h.line) THEN MIN(h.file) END AS kind_file,
    MIN(h.line) AS kind_line,
    MIN(h.function) AS kind_function
  FROM hlo_instruction AS h
  WHERE h.times = 0 AND h.flops > 0 AND h.op_name IS NOT NULL
  GROUP BY columns!(h, module_id, pass_id, computation, opcode)
)

SELECT
  columns!(h, id, run_id, module_id, name, opcode, fusion_kind),
  COALESCE(k.kind_op, h.op_name) AS written_op,
  CASE WHEN k.kind_op IS NULL THEN h.file ELSE k.kind_file END AS in_file,
  CASE WHEN k.kind_op IS NULL THEN h.line WHEN k.kind_file IS NOT NULL THEN k.kind_line END AS on_line,
  CASE WHEN k.kind_op IS NULL THEN h.function WHEN k.kind_file IS NOT NULL THEN k.kind_function END AS in_function
FROM hlo_instruction AS h
LEFT JOIN kinds AS k
  ON k.module_id = h.module_id AND COALESCE(k.pass_id, -1) = COALESCE(h.pass_id, -1)
  AND h.opcode = 'fusion' AND h.calls_json = CONCAT('["', k.computation, '"]') AND k.kind_flops * 2 > h.flops
WHERE h.stage IS NULL OR h.stage LIKE '%after_optimizations%'

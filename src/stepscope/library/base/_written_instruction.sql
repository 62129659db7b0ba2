-- Which op of the program is behind each instruction of the compiled programs that run?
--
-- reads: hlo_instruction
-- notes: A fusion is called after its last instruction, which may be an addition after products of matrices. Where
--   products have more than half of its arithmetic, it is for them, and has their line if they have one in common. A
--   product that XLA has merged with the transpose of its value is called transpose. Of programs in dump folders,
--   the one that runs counts.
-- columns:
--   id | int | its row in hlo_instruction
--   run_id, name
--   written_type | text | type of the op: dot_general
--   goes_by_op | int | 1 for products, and for what a library runs, as its name tells who runs it
--   in_file | text | file of the line that made it
--   on_line | int | line in that file
--   in_function | text | function that contains that line
WITH called AS (
  SELECT
    columns!(h, id, run_id, module_id, pass_id, computation, name, opcode, calls_json, times, flops),
    REPLACE(h.op_name, RTRIM(h.op_name, REPLACE(h.op_name, '/', '')), '') AS last_called,
    CASE WHEN h.opcode IN ('dot', 'convolution') THEN 1 ELSE 0 END AS multiplies,
    CASE WHEN h.opcode = 'custom-call' OR (h.opcode = 'fusion' AND h.fusion_kind = 'kCustom') THEN 1 ELSE 0 END
      AS by_library,
    h.file AS of_file,
    h.line AS of_line,
    h.function AS of_function
  FROM hlo_instruction AS h
  WHERE h.stage IS NULL OR h.stage LIKE '%after_optimizations%'
),

typed AS (
  SELECT
    columns!(c, id, run_id, module_id, pass_id, computation, name, opcode, calls_json, times, flops, multiplies),
    CASE WHEN c.multiplies = 0 OR product!(c.last_called) THEN c.last_called ELSE c.opcode END AS own_type,
    CAST(CASE WHEN c.multiplies = 1 OR c.by_library = 1 THEN 1 ELSE 0 END AS BIGINT) AS goes_by_op,
    columns!(c, of_file, of_line, of_function)
  FROM called AS c
),

products AS (
  SELECT
    columns!(t, module_id, pass_id, computation),
    SUM(t.flops) AS product_flops,
    MIN(t.own_type) AS product_type,
    CASE
      WHEN MIN(t.of_file) = MAX(t.of_file) AND MIN(t.of_line) = MAX(t.of_line) THEN MIN(t.of_file)
    END AS product_file,
    MIN(t.of_line) AS product_line,
    MIN(t.of_function) AS product_function
  FROM typed AS t
  WHERE t.times = 0 AND t.multiplies = 1
  GROUP BY columns!(t, module_id, pass_id, computation)
)

SELECT
  columns!(t, id, run_id, name),
  COALESCE(p.product_type, t.own_type) AS written_type,
  t.goes_by_op,
  CASE WHEN p.product_type IS NULL THEN t.of_file ELSE p.product_file END AS in_file,
  CASE WHEN p.product_type IS NULL THEN t.of_line WHEN p.product_file IS NOT NULL THEN p.product_line END AS on_line,
  CASE WHEN p.product_type IS NULL THEN t.of_function WHEN p.product_file IS NOT NULL THEN p.product_function END
    AS in_function
FROM typed AS t
LEFT JOIN products AS p
  ON p.module_id = t.module_id AND COALESCE(p.pass_id, -1) = COALESCE(t.pass_id, -1)
  AND t.opcode = 'fusion' AND t.calls_json = CONCAT('["', p.computation, '"]') AND p.product_flops * 2 > t.flops

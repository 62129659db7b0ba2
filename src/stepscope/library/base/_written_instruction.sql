-- Which op of the program is behind each instruction of the compiled programs that run?
--
-- reads: hlo_instruction
-- notes: A fusion is called after its last instruction, which may be an addition after products of matrices. Where
--   products have more than half of its arithmetic, it is for them, and has their line if they have one in common. A
--   product that XLA has merged with the transpose of its value is called transpose. Of programs in dump folders,
--   the one that runs counts. What XLA wrote anew in a loop has no line of its own: it has that of the loop.
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

loops AS (
  SELECT
    columns!(c, module_id, pass_id, calls_json),
    MIN(c.of_file) AS loop_file,
    MIN(c.of_line) AS loop_line,
    MIN(c.of_function) AS loop_function
  FROM called AS c
  WHERE c.opcode = 'while' AND c.of_file IS NOT NULL
  GROUP BY columns!(c, module_id, pass_id, calls_json)
),

typed AS (
  SELECT
    columns!(c, id, run_id, module_id, pass_id, computation, name, opcode, calls_json, times, flops, multiplies),
    CASE WHEN c.multiplies = 0 OR product!(c.last_called) THEN c.last_called ELSE c.opcode END AS own_type,
    CAST(CASE WHEN c.multiplies = 1 OR c.by_library = 1 THEN 1 ELSE 0 END AS BIGINT) AS goes_by_op,
    COALESCE(c.of_file, l.loop_file) AS known_file,
    CASE WHEN c.of_file IS NULL THEN l.loop_line ELSE c.of_line END AS known_line,
    CASE WHEN c.of_file IS NULL THEN l.loop_function ELSE c.of_function END AS known_function
  FROM called AS c
  LEFT JOIN loops AS l
    ON l.module_id = c.module_id AND COALESCE(l.pass_id, -1) = COALESCE(c.pass_id, -1)
    AND c.of_file IS NULL
    AND RTRIM(l.calls_json, REPLACE(l.calls_json, ',', '')) = CONCAT('["', c.computation, '",')
),

products AS (
  SELECT
    columns!(t, module_id, pass_id, computation),
    SUM(t.flops) AS product_flops,
    MIN(t.own_type) AS product_type,
    CASE
      WHEN MIN(t.known_file) = MAX(t.known_file) AND MIN(t.known_line) = MAX(t.known_line) THEN MIN(t.known_file)
    END AS product_file,
    MIN(t.known_line) AS product_line,
    MIN(t.known_function) AS product_function
  FROM typed AS t
  WHERE t.times = 0 AND t.multiplies = 1
  GROUP BY columns!(t, module_id, pass_id, computation)
)

SELECT
  columns!(t, id, run_id, name),
  COALESCE(p.product_type, t.own_type) AS written_type,
  t.goes_by_op,
  CASE WHEN p.product_type IS NULL THEN t.known_file ELSE p.product_file END AS in_file,
  CASE WHEN p.product_type IS NULL THEN t.known_line WHEN p.product_file IS NOT NULL THEN p.product_line END AS on_line,
  CASE WHEN p.product_type IS NULL THEN t.known_function WHEN p.product_file IS NOT NULL THEN p.product_function END
    AS in_function
FROM typed AS t
LEFT JOIN products AS p
  ON p.module_id = t.module_id AND COALESCE(p.pass_id, -1) = COALESCE(t.pass_id, -1)
  AND t.opcode = 'fusion' AND t.calls_json = CONCAT('["', p.computation, '"]') AND p.product_flops * 2 > t.flops

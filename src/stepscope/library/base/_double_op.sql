-- Which ops compute with 64-bit floats, and how much of the time of ops at their place do they take?
--
-- reads: op_sum, hlo_instruction, node, tensor, instant, op_line, slice, source, rollup_op
-- notes: By the instructions of compiled programs, by the types in graphs, by those of what ops made where no graph
--   has them (RunMetadata, and timelines that show memory), and by those of what PyTorch's ops on processors are
--   given, where that was recorded. Kernels that XLA launches as a CUDA graph name their program and
--   no instruction: they compute with such floats where it has no others.
-- columns:
--   run_id, host_id
--   place | text | device or host
--   op, file, line
--   position | int | 1: the one that takes longest
--   ops | int | how many there are at the place
--   double_ps | ps | self times of them all
--   all_ps | ps | self times of all ops that compute there
WITH instructions AS (
  SELECT
    h.run_id AS of_run,
    h.name AS instruction,
    MIN(
      CASE WHEN h.shape LIKE 'f64[%' OR h.shape LIKE 'c128[%' OR h.shape LIKE '(f64[%' OR h.shape LIKE '(c128[%' THEN 1
        ELSE 0 END
    ) AS is_double,
    MIN(h.file) AS in_file,
    MIN(h.line) AS on_line
  FROM hlo_instruction AS h
  WHERE h.stage IS NULL OR h.stage LIKE '%after_optimizations%'
  GROUP BY h.run_id, h.name
),

nodes AS (
  SELECT
    n.run_id AS of_run,
    CASE WHEN n.graph LIKE 'function/%' THEN CONCAT('StatefulPartitionedCall/', n.name) ELSE n.name END AS instruction,
    CASE
      WHEN n.args_json LIKE '%"DstT":"DT_DOUBLE"%' THEN 1
      WHEN n.args_json LIKE '%"DstT":%' THEN 0
      WHEN n.args_json LIKE '%"T":"DT_DOUBLE"%' OR n.args_json LIKE '%"dtype":"DT_DOUBLE"%' THEN 1
      ELSE 0
    END AS typed_double
  FROM node AS n
),

lines AS (
  SELECT l.run_id AS of_run, l.op_name, MIN(l.file) AS op_file, MIN(l.line) AS op_line_number
  FROM op_line AS l
  GROUP BY l.run_id, l.op_name
),

in_graphs AS (
  SELECT i.of_run, i.instruction AS known_op FROM instructions AS i
  UNION ALL
  SELECT n.of_run, n.instruction AS known_op FROM nodes AS n
),

outputs AS (
  SELECT t.run_id AS of_run, t.op_name AS maker, CASE WHEN t.dtype = 'DT_DOUBLE' THEN 1 ELSE 0 END AS made_double
  FROM tensor AS t
  UNION ALL
  SELECT
    i.run_id AS of_run,
    i.name AS maker,
    CASE WHEN i.args_json LIKE '%"tensor_description":"dtype: DT_DOUBLE%' THEN 1 ELSE 0 END AS made_double
  FROM instant AS i
  WHERE i.category = 'Tensor' AND i.args_json LIKE '%"tensor_description":"dtype: %'
),

made AS (
  SELECT columns!(i, of_run, instruction, is_double, in_file, on_line)
  FROM instructions AS i
  UNION ALL
  SELECT
    p.of_run,
    p.maker AS instruction,
    MIN(p.made_double) AS is_double,
    MIN(l.op_file) AS in_file,
    MIN(l.op_line_number) AS on_line
  FROM outputs AS p
  LEFT JOIN in_graphs AS g ON g.of_run = p.of_run AND g.known_op = p.maker
  LEFT JOIN lines AS l ON l.of_run = p.of_run AND l.op_name = p.maker
  WHERE g.known_op IS NULL
  GROUP BY p.of_run, p.maker
  UNION ALL
  SELECT
    columns!(n, of_run, instruction),
    MIN(n.typed_double) AS is_double,
    MIN(l.op_file) AS in_file,
    MIN(l.op_line_number) AS on_line
  FROM nodes AS n
  LEFT JOIN lines AS l ON l.of_run = n.of_run AND l.op_name = n.instruction
  GROUP BY n.of_run, n.instruction
),

runs AS (
  SELECT m.of_run AS double_run
  FROM made AS m
  WHERE m.is_double = 1
  GROUP BY m.of_run
),

programs AS (
  SELECT
    h.run_id AS program_run,
    h.module AS program,
    MIN(CASE WHEN h.shape LIKE 'f64[%' OR h.shape LIKE 'c128[%' THEN 1 ELSE 0 END) AS all_double
  FROM hlo_instruction AS h
  WHERE
    (h.stage IS NULL OR h.stage LIKE '%after_optimizations%') AND h.opcode <> 'parameter'
    AND (h.shape LIKE 'f%' OR h.shape LIKE 'bf16[%' OR h.shape LIKE 'c%')
  GROUP BY h.run_id, h.module
),

of_graphs AS (
  SELECT
    s.run_id AS graph_run,
    r.op_name AS kernel,
    MIN(COALESCE(p.all_double, 0)) AS graph_double
  FROM rollup_op AS r
  INNER JOIN runs AS u ON u.double_run = r.run_id
  INNER JOIN slice AS s ON s.rollup_id = r.id
  LEFT JOIN programs AS p
    ON p.program_run = s.run_id AND p.program = arg!(s.args_json, "hlo_module")
  WHERE r.is_op AND r.class = 'compute' AND s.args_json LIKE '%"hlo_op":"command_buffer%'
  GROUP BY s.run_id, r.op_name
),

typed AS (
  SELECT
    columns!(o, run_id, host_id, place),
    o.op AS op_called,
    columns!(m, in_file, on_line),
    COALESCE(m.is_double, d.graph_double) AS double_flag,
    SUM(o.sum_self_ps) AS self_sum
  FROM op_sum AS o
  INNER JOIN runs AS u ON u.double_run = o.run_id
  LEFT JOIN made AS m ON m.of_run = o.run_id AND m.instruction = o.op
  LEFT JOIN of_graphs AS d ON d.graph_run = o.run_id AND d.kernel = o.op
  WHERE o.place IN ('device', 'host') AND o.class = 'compute'
  GROUP BY o.run_id, o.host_id, o.place, o.op, m.in_file, m.on_line, m.is_double, d.graph_double
),

computed AS (
  SELECT
    columns!(t, run_id, host_id, place, op_called, in_file, on_line),
    t.double_flag AS is_double,
    SUM(t.self_sum) OVER (PARTITION BY t.run_id, t.host_id, t.place) AS whole_ps,
    SUM(t.self_sum) OVER (PARTITION BY t.run_id, t.host_id, t.place, t.double_flag) AS typed_ps,
    COUNT(*) OVER (PARTITION BY t.run_id, t.host_id, t.place, t.double_flag) AS number,
    CAST(ROW_NUMBER() OVER (
      PARTITION BY t.run_id, t.host_id, t.place, t.double_flag
      ORDER BY nulls_last!(t.self_sum DESC, t.op_called)
    ) AS BIGINT) AS position
  FROM typed AS t
),

of_processors AS (
  SELECT o.run_id AS of_run, o.host_id AS of_host
  FROM op_sum AS o
  GROUP BY o.run_id, o.host_id
  HAVING MAX(CASE WHEN o.place = 'device' THEN 1 ELSE 0 END) = 0
),

calls AS (
  SELECT
    columns!(s, run_id, host_id, self_ps),
    s.name AS op_called,
    CASE WHEN s.args_json LIKE '%"Input type":["double"%' AND NOT s.args_json LIKE '%"Input Dims":[[]%' THEN 1
      ELSE 0 END AS is_double
  FROM slice AS s
  INNER JOIN source AS o ON o.source_id = s.source_id AND o.framework = 'pytorch'
  INNER JOIN of_processors AS p ON p.of_run = s.run_id AND p.of_host = s.host_id
  WHERE s.category = 'cpu_op' AND s.self_ps > 0
),

called AS (
  SELECT columns!(c, run_id, host_id, op_called, is_double), SUM(c.self_ps) AS self_sum
  FROM calls AS c
  GROUP BY columns!(c, run_id, host_id, op_called, is_double)
),

told AS (
  SELECT
    columns!(r, run_id, host_id, place, op_called, in_file, on_line, is_double, position, number, whole_ps, typed_ps)
  FROM computed AS r
  UNION ALL
  SELECT
    columns!(c, run_id, host_id),
    'host' AS place,
    c.op_called,
    CAST(NULL AS VARCHAR) AS in_file,
    CAST(NULL AS INTEGER) AS on_line,
    c.is_double,
    CAST(ROW_NUMBER() OVER (
      PARTITION BY c.run_id, c.host_id, c.is_double ORDER BY nulls_last!(c.self_sum DESC, c.op_called)
    ) AS BIGINT) AS position,
    COUNT(*) OVER (PARTITION BY c.run_id, c.host_id, c.is_double) AS number,
    SUM(c.self_sum) OVER (PARTITION BY c.run_id, c.host_id) AS whole_ps,
    SUM(c.self_sum) OVER (PARTITION BY c.run_id, c.host_id, c.is_double) AS typed_ps
  FROM called AS c
),

-- The line of a gradient is that which asks for all gradients: the op that it belongs to has its own.
forward_lines AS (
  SELECT
    columns!(r, run_id, host_id, place),
    MIN(l.op_file) AS forward_file,
    MIN(l.op_line_number) AS forward_line
  FROM told AS r
  INNER JOIN lines AS l ON l.of_run = r.run_id AND r.op_called LIKE CONCAT('%gradients/', l.op_name, '_grad/%')
  WHERE r.is_double = 1 AND r.position = 1
  GROUP BY columns!(r, run_id, host_id, place)
)

SELECT
  columns!(r, run_id, host_id, place),
  r.op_called AS op,
  CASE WHEN r.position = 1 AND f.forward_file IS NOT NULL THEN f.forward_file ELSE r.in_file END AS file,
  CASE WHEN r.position = 1 AND f.forward_file IS NOT NULL THEN f.forward_line ELSE r.on_line END AS line,
  r.position,
  CAST(r.number AS BIGINT) AS ops,
  CAST(r.typed_ps AS BIGINT) AS double_ps,
  CAST(r.whole_ps AS BIGINT) AS all_ps
FROM told AS r
LEFT JOIN forward_lines AS f ON f.run_id = r.run_id AND f.host_id = r.host_id AND f.place = r.place
WHERE r.is_double = 1

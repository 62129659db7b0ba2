-- Ops compute with 64-bit floats
--
-- question: How much of the time of ops goes to those that make 64-bit floats?
-- reads: op_sum, hlo_instruction, slice, source
-- severity: medium from 20 % of the time of ops that compute
-- impact: {share} of the time of ops goes to those that make 64-bit floats: {impact_ps} in {ops} {ops:op|ops}, most of
--   it in {op}[, {file}:{line}].
-- action: If 32 bits are enough, give NumPy arrays and constants a type (np.float32).
-- action_jax: If 32 bits are enough, turn jax_enable_x64 off, or give NumPy arrays and constants a type (np.float32):
--   one array of 64-bit floats makes all that is computed with it so.
-- action_pytorch: If 32 bits are enough, make tensors of NumPy arrays with .float(): `torch.from_numpy` keeps their 64
--   bits, and `model.double()` makes all that is computed with it so.
-- weakened_by: lost, capped, truncated, missing
-- reasoning: 64-bit floats take twice the memory and half of the vector units. Accelerators compute them many times
--   slower, if at all.
-- formula: share = self times of ops whose instructions make f64 or c128 / those of all ops that compute, at the same
--   place. An instruction that programs give several types is left out. Of PyTorch on processors: self times of ops
--   whose first input has such numbers, where shapes were recorded, and is no single number: those of Python are
--   64-bit floats, and are computed with as what they meet.
-- columns:
--   severity | text | Severity | medium
--   impact_ps | ps | Self | self times of these ops, added up
--   run_id, host_id
--   place | text | Place | device or host
--   share | ratio | Share | part of the time of all ops that compute there
--   ops | int | Ops | how many make such floats
--   op | text | Op | the one that takes longest
--   file | text | File | of the line that made it
--   line | int | Line | in that file
WITH made AS (
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

runs AS (
  SELECT m.of_run AS double_run
  FROM made AS m
  WHERE m.is_double = 1
  GROUP BY m.of_run
),

computed AS (
  SELECT
    columns!(o, run_id, host_id, place),
    o.op AS op_called,
    columns!(m, in_file, on_line, is_double),
    SUM(SUM(o.sum_self_ps)) OVER (PARTITION BY o.run_id, o.host_id, o.place) AS all_ps,
    SUM(SUM(o.sum_self_ps)) OVER (PARTITION BY o.run_id, o.host_id, o.place, m.is_double) AS double_ps,
    COUNT(*) OVER (PARTITION BY o.run_id, o.host_id, o.place, m.is_double) AS number,
    ROW_NUMBER() OVER (
      PARTITION BY o.run_id, o.host_id, o.place, m.is_double
      ORDER BY nulls_last!(SUM(o.sum_self_ps) DESC, o.op)
    ) AS position
  FROM op_sum AS o
  INNER JOIN runs AS u ON u.double_run = o.run_id
  LEFT JOIN made AS m ON m.of_run = o.run_id AND m.instruction = o.op
  WHERE o.place IN ('device', 'host') AND o.class = 'compute'
  GROUP BY o.run_id, o.host_id, o.place, o.op, m.in_file, m.on_line, m.is_double
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
    columns!(r, run_id, host_id, place, op_called, in_file, on_line, is_double, position, number, all_ps, double_ps)
  FROM computed AS r
  UNION ALL
  SELECT
    columns!(c, run_id, host_id),
    'host' AS place,
    c.op_called,
    CAST(NULL AS VARCHAR) AS in_file,
    CAST(NULL AS INTEGER) AS on_line,
    c.is_double,
    ROW_NUMBER() OVER (
      PARTITION BY c.run_id, c.host_id, c.is_double ORDER BY nulls_last!(c.self_sum DESC, c.op_called)
    ) AS position,
    COUNT(*) OVER (PARTITION BY c.run_id, c.host_id, c.is_double) AS number,
    SUM(c.self_sum) OVER (PARTITION BY c.run_id, c.host_id) AS all_ps,
    SUM(c.self_sum) OVER (PARTITION BY c.run_id, c.host_id, c.is_double) AS double_ps
  FROM called AS c
)

SELECT
  'medium' AS severity,
  CAST(r.double_ps AS BIGINT) AS impact_ps,
  columns!(r, run_id, host_id, place),
  share!(r.double_ps, r.all_ps) AS share,
  CAST(r.number AS BIGINT) AS ops,
  r.op_called AS op,
  r.in_file AS file,
  r.on_line AS line
FROM told AS r
WHERE r.is_double = 1 AND r.position = 1 AND r.double_ps * 5 >= r.all_ps
ORDER BY nulls_last!(r.double_ps DESC, r.run_id, r.host_id, r.place)

-- How long does each kind of slice of such an op run, on devices and on hosts?
--
-- reads: rollup_op, track_place, slice, _started_source, _started_op, _launching_op, _captured_op, _library_instruction
-- notes: Ops of the input pipeline are left out, and calls of functions, whose ops are there by themselves. A kernel
--   that names no op of its own has the type of the op that launched it, but for products of matrices and
--   convolutions: those are what models are made of, and of them the kernel that takes longest is worth more.
--   Runs that compiled or warmed up are left out where others are averaged, as in the steps.
-- columns:
--   run_id, host_id, place
--   op_type | text | type of the op, as the program wrote it where XLA runs it under another name
--   op_name, name, class
--   slices | int | how many
--   kind_ps | ps | their self times, added up
WITH captured AS (
  SELECT c.of_rollup, COUNT(*) AS many, SUM(c.spent_ps) AS many_ps
  FROM _captured_op AS c
  GROUP BY c.of_rollup
),

kinds AS (
  SELECT
    r.id AS kind_id,
    columns!(r, run_id, host_id),
    p.place,
    COALESCE(l.program_type, r.op_type) AS own_type,
    columns!(r, op_name, name, class),
    r.slices - COALESCE(i.many, 0) - COALESCE(u.many, 0) AS own_slices,
    CAST(
      COALESCE(r.op_self_ps, r.self_ps) - COALESCE(i.many_ps, 0) - COALESCE(u.spent_ps, 0) AS BIGINT
    ) AS own_ps,
    CASE WHEN p.place = 'device' AND r.op_name IS NULL THEN 1 ELSE 0 END AS is_kernel
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  LEFT JOIN _started_source AS o ON o.started_source = r.source_id
  LEFT JOIN captured AS i ON i.of_rollup = r.id
  LEFT JOIN _started_op AS u ON u.of_rollup = r.id
  LEFT JOIN _library_instruction AS l ON l.run_id = r.run_id AND l.name = r.op_name
  WHERE
    o.started_source IS NULL
    AND r.layer IN ('compute', 'python')
    AND r.class <> 'input'
    AND p.place IN ('device', 'host')
    AND COALESCE(i.many, 0) + COALESCE(u.many, 0) < r.slices
),

kernels AS (
  SELECT
    k.kind_id,
    l.launched_by,
    COUNT(*) AS number,
    SUM(COALESCE(s.op_self_ps, s.self_ps)) AS sum_ps
  FROM kinds AS k
  INNER JOIN slice AS s ON s.rollup_id = k.kind_id
  LEFT JOIN _launching_op AS l ON l.of_source = s.source_id AND l.of_correlation = s.correlation_id
  WHERE k.is_kernel = 1
  GROUP BY k.kind_id, l.launched_by
)

SELECT
  columns!(k, run_id, host_id, place),
  k.own_type AS op_type,
  columns!(k, op_name, name, class),
  k.own_slices AS slices,
  k.own_ps AS kind_ps
FROM kinds AS k
WHERE k.is_kernel = 0
UNION ALL
SELECT
  columns!(k, run_id, host_id, place),
  CASE
    WHEN product!(n.launched_by) THEN k.own_type
    ELSE COALESCE(n.launched_by, k.own_type)
  END AS op_type,
  columns!(k, op_name, name, class),
  n.number AS slices,
  CAST(n.sum_ps AS BIGINT) AS kind_ps
FROM kinds AS k
INNER JOIN kernels AS n ON n.kind_id = k.kind_id

-- Which pipelines, passes and stages of code generation did each compile run, and for how long?
--
-- reads: slice
-- notes: A compile is the slice of its backend with all that lies before it in the same slice: the pipelines of
--   passes. Kernels are compiled by threads of their own, and are those of the backend that runs meanwhile.
-- columns:
--   compile_id | int | slice of the backend
--   hlo_module | text | module that is compiled
--   part | text | passes, backend or kernel (by threads of their own)
--   id, parent_id, name
--   kernel | text | module of a kernel
--   dur_ps, self_ps
WITH backends AS (
  SELECT
    columns!(s, id, source_id, track_id, parent_id, depth),
    s.ts_ps AS from_ps,
    s.ts_ps + s.dur_ps AS to_ps,
    COALESCE(
      arg!(s.args_json, name), arg!(s.args_json, module)
    ) AS hlo_module,
    LAG(s.ts_ps + s.dur_ps) OVER (
      PARTITION BY s.track_id, s.parent_id
      ORDER BY nulls_last!(s.ts_ps, s.id)
    ) AS before_ps
  FROM slice AS s
  WHERE s.name LIKE '%Compiler::RunBackend%'
),

compiles AS (
  SELECT
    b.id AS compile_id,
    columns!(b, source_id, track_id, depth, from_ps, to_ps),
    COALESCE(b.before_ps, p.ts_ps, b.from_ps) AS open_ps,
    b.hlo_module
  FROM backends AS b
  LEFT JOIN slice AS p ON p.id = b.parent_id
),

kernels AS (
  SELECT s.id, MAX(c.compile_id) AS in_compile
  FROM slice AS s
  INNER JOIN compiles AS c ON c.source_id = s.source_id AND s.ts_ps >= c.from_ps AND s.ts_ps < c.to_ps
  WHERE s.name LIKE '%FusionCompiler::Compile%' AND s.track_id <> c.track_id
  GROUP BY s.id
),

parts AS (
  SELECT
    columns!(c, compile_id, hlo_module),
    CASE WHEN s.ts_ps >= c.from_ps THEN 'backend' ELSE 'passes' END AS part,
    columns!(s, id, parent_id, name),
    NULL AS kernel,
    columns!(s, dur_ps, self_ps)
  FROM compiles AS c
  INNER JOIN slice AS s
    ON s.track_id = c.track_id AND s.depth >= c.depth AND s.ts_ps >= c.open_ps AND s.ts_ps < c.to_ps
  WHERE s.name NOT LIKE '$%'
  UNION ALL
  SELECT
    columns!(c, compile_id, hlo_module),
    'kernel' AS part,
    columns!(s, id, parent_id, name),
    arg!(s.args_json, module) AS kernel,
    columns!(s, dur_ps, self_ps)
  FROM kernels AS k
  INNER JOIN compiles AS c ON c.compile_id = k.in_compile
  INNER JOIN slice AS s ON s.id = k.id
)

SELECT p.compile_id, p.hlo_module, p.part, p.id, p.parent_id, p.name, p.kernel, p.dur_ps, p.self_ps
FROM parts AS p
ORDER BY nulls_last!(p.compile_id, p.part, p.id)

-- Which tables get a gradient as large as they are for few rows, and what do ops on all their rows take?
--
-- reads: slice, rollup_op, track_place, _launching_op
-- notes: Of PyTorch, where the sizes of inputs were recorded. A lookup's gradient is dense where zeros of the shape of
--   the table are made for it; what is looked up is a parameter where a gradient of that shape is accumulated. Left out
--   are tables that a step computes with otherwise, as the last layer of a language model does with that of its first:
--   their gradient is of all rows by itself. Of an op that takes a list of tensors a table has the part that it has of
--   all gradients. Where there are no steps, all lookups count as those of one, and those of the processes of a run add
--   up.
-- columns:
--   run_id, host_id
--   table_rows | int | rows of the table; several of one shape are one
--   table_columns | int | numbers of a row
--   used_rows | int | the most lookups of a step: it used no more rows
--   table_ps | ps | self times of ops on all rows; on devices, of the kernels that they launched
--   all_ps | ps | self times of all ops at the same place
WITH zeroed AS (
  SELECT
    columns!(z, run_id, host_id, source_id),
    COALESCE(z.step, -1) AS in_step,
    TRY_CAST(arg!(z.args_json, "Input Dims"[0][0]) AS BIGINT) AS height,
    TRY_CAST(arg!(z.args_json, "Input Dims"[0][1]) AS BIGINT) AS width,
    arg!(z.args_json, "Input Dims"[0][2]) AS further,
    CASE WHEN q.name = 'aten::_embedding_bag_dense_backward' THEN 1 ELSE 0 END AS is_bag,
    TRY_CAST(arg!(g.args_json, "Input Dims"[1][0]) AS BIGINT)
    * COALESCE(TRY_CAST(arg!(g.args_json, "Input Dims"[1][1]) AS BIGINT), 1) AS bag_ids,
    TRY_CAST(arg!(g.args_json, "Input Dims"[0][0]) AS BIGINT) AS size_0,
    TRY_CAST(arg!(g.args_json, "Input Dims"[0][1]) AS BIGINT) AS size_1,
    TRY_CAST(arg!(g.args_json, "Input Dims"[0][2]) AS BIGINT) AS size_2,
    TRY_CAST(arg!(g.args_json, "Input Dims"[0][3]) AS BIGINT) AS size_3,
    arg!(g.args_json, "Input Dims"[0][4]) AS size_4
  FROM slice AS z
  INNER JOIN rollup_op AS r ON r.id = z.rollup_id
  INNER JOIN slice AS p ON p.id = z.parent_id
  INNER JOIN slice AS g ON g.id = p.parent_id
  INNER JOIN rollup_op AS q ON q.id = g.rollup_id
  WHERE
    r.name = 'aten::zero_'
    AND q.name IN (
      'aten::embedding_dense_backward', 'aten::_embedding_bag_dense_backward', 'aten::index_select_backward',
      'IndexBackward0'
    )
),

looked_up AS (
  SELECT
    columns!(z, run_id, host_id, source_id, in_step, height, width),
    MAX(
      CASE WHEN z.further IS NULL AND z.size_4 IS NULL AND COALESCE(z.size_0, z.bag_ids) IS NOT NULL THEN 0 ELSE 1 END
    ) AS unknown,
    SUM(
      CASE
        WHEN z.is_bag = 1 THEN z.bag_ids
        WHEN z.size_3 = z.width THEN z.size_0 * z.size_1 * z.size_2
        WHEN z.size_2 = z.width AND z.size_3 IS NULL THEN z.size_0 * z.size_1
        WHEN z.size_1 = z.width AND z.size_2 IS NULL THEN z.size_0
        -- Where the last dimension is not a row of the table, each number may be of another row.
        ELSE z.size_0 * COALESCE(z.size_1, 1) * COALESCE(z.size_2, 1) * COALESCE(z.size_3, 1)
      END
    ) AS ids
  FROM zeroed AS z
  WHERE z.height * z.width >= 1048576
  GROUP BY columns!(z, run_id, host_id, source_id, in_step, height, width)
),

of_sources AS (
  SELECT
    columns!(u, run_id, host_id, source_id, height, width),
    MAX(u.ids) AS most_ids
  FROM looked_up AS u
  GROUP BY columns!(u, run_id, host_id, source_id, height, width)
  HAVING MAX(u.unknown) = 0
),

-- Processes that exchange gradients update the rows of them all.
of_runs AS (
  SELECT columns!(o, run_id, height, width)
  FROM of_sources AS o
  GROUP BY columns!(o, run_id, height, width)
  HAVING SUM(o.most_ids) * 10 <= o.height
),

tables AS (
  SELECT
    columns!(o, run_id, host_id, height, width),
    CAST(MAX(o.most_ids) AS BIGINT) AS step_ids,
    '%[' || CAST(o.height AS VARCHAR) || ',' || CAST(o.width AS VARCHAR) || ']%' AS shape_text,
    '%[' || CAST(o.width AS VARCHAR) || ',' || CAST(o.height AS VARCHAR) || ']%' AS turned_text
  FROM of_sources AS o
  INNER JOIN of_runs AS u ON u.run_id = o.run_id AND u.height = o.height AND u.width = o.width
  GROUP BY columns!(o, run_id, host_id, height, width)
),

called AS (
  SELECT
    columns!(s, run_id, host_id, name, args_json),
    COALESCE(s.op_self_ps, s.self_ps) AS own_ps
  FROM slice AS s
  WHERE s.category = 'cpu_op'
),

-- What autograd is to differentiate has a number, and what optimizers do has none.
otherwise AS (
  SELECT columns!(t, run_id, host_id, height, width), COUNT(*) AS uses
  FROM tables AS t
  INNER JOIN called AS c ON c.run_id = t.run_id AND c.host_id = t.host_id
  WHERE
    (
      c.args_json LIKE t.shape_text
      AND c.args_json LIKE '%"Sequence number"%'
      AND c.name NOT IN (
        'aten::embedding', 'aten::embedding_bag', 'aten::_embedding_bag', 'aten::index', 'aten::index_select',
        'aten::detach', 'aten::zero_', 'aten::_foreach_zero_', 'aten::fill_'
      )
    )
    OR ((c.args_json LIKE t.shape_text OR c.args_json LIKE t.turned_text) AND product!(c.name))
  GROUP BY columns!(t, run_id, host_id, height, width)
),

gradients AS (
  SELECT
    columns!(c, run_id, host_id, args_json),
    TRY_CAST(arg!(c.args_json, "Input Dims"[0][0]) AS DOUBLE)
    * COALESCE(TRY_CAST(arg!(c.args_json, "Input Dims"[0][1]) AS DOUBLE), 1)
    * COALESCE(TRY_CAST(arg!(c.args_json, "Input Dims"[0][2]) AS DOUBLE), 1)
    * COALESCE(TRY_CAST(arg!(c.args_json, "Input Dims"[0][3]) AS DOUBLE), 1)
    * COALESCE(TRY_CAST(arg!(c.args_json, "Input Dims"[0][4]) AS DOUBLE), 1) AS numbers
  FROM called AS c
  WHERE c.name = 'torch::autograd::AccumulateGrad'
),

parts AS (
  SELECT
    columns!(t, run_id, host_id, height, width),
    sum_where!(g.args_json LIKE t.shape_text, g.numbers) AS of_table,
    SUM(g.numbers) AS of_all
  FROM tables AS t
  INNER JOIN gradients AS g ON g.run_id = t.run_id AND g.host_id = t.host_id
  GROUP BY columns!(t, run_id, host_id, height, width)
),

with_devices AS (
  SELECT p.run_id AS of_run, p.host_id AS of_host
  FROM track_place AS p
  WHERE p.place = 'device'
  GROUP BY p.run_id, p.host_id
),

took AS (
  SELECT columns!(c, run_id, host_id, name, args_json, own_ps)
  FROM called AS c
  LEFT JOIN with_devices AS d ON d.of_run = c.run_id AND d.of_host = c.host_id
  WHERE d.of_run IS NULL
  UNION ALL
  SELECT columns!(k, run_id, host_id), o.name, o.args_json, COALESCE(k.op_self_ps, k.self_ps) AS own_ps
  FROM slice AS k
  INNER JOIN rollup_op AS r ON r.id = k.rollup_id
  INNER JOIN track_place AS p ON p.track_id = k.track_id
  LEFT JOIN _launching_op AS l ON l.of_source = k.source_id AND l.of_correlation = k.correlation_id
  LEFT JOIN slice AS o ON o.id = l.launched_from
  WHERE p.place = 'device' AND r.is_op AND r.class = 'compute'
),

sums AS (
  SELECT
    columns!(t, run_id, host_id, height, width, step_ids),
    SUM(k.own_ps) AS whole_ps,
    SUM(
      CASE
        WHEN k.args_json IS NULL OR NOT k.args_json LIKE t.shape_text THEN 0
        WHEN k.name LIKE 'aten::_foreach_%' OR k.name LIKE 'aten::_fused_%'
          THEN k.own_ps * share!(p.of_table, p.of_all)
        WHEN k.name IN (
          'aten::fill_', 'aten::zero_', 'aten::add', 'aten::add_', 'aten::sub', 'aten::sub_', 'aten::mul',
          'aten::mul_', 'aten::div', 'aten::div_', 'aten::sqrt', 'aten::sqrt_', 'aten::pow', 'aten::pow_',
          'aten::neg', 'aten::neg_', 'aten::sign', 'aten::abs', 'aten::maximum', 'aten::lerp_', 'aten::addcmul',
          'aten::addcmul_', 'aten::addcdiv', 'aten::addcdiv_', 'aten::linalg_vector_norm'
        )
          THEN k.own_ps
        ELSE 0
      END
    ) AS on_table_ps
  FROM tables AS t
  INNER JOIN took AS k ON k.run_id = t.run_id AND k.host_id = t.host_id
  INNER JOIN parts AS p
    ON p.run_id = t.run_id AND p.host_id = t.host_id AND p.height = t.height AND p.width = t.width
  WHERE p.of_table > 0
  GROUP BY columns!(t, run_id, host_id, height, width, step_ids)
)

SELECT
  columns!(s, run_id, host_id),
  s.height AS table_rows,
  s.width AS table_columns,
  s.step_ids AS used_rows,
  whole!(s.on_table_ps) AS table_ps,
  CAST(s.whole_ps AS BIGINT) AS all_ps
FROM sums AS s
LEFT JOIN otherwise AS o
  ON o.run_id = s.run_id AND o.host_id = s.host_id AND o.height = s.height AND o.width = s.width
WHERE o.uses IS NULL

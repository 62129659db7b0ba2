-- Whole tables are updated for a few rows
--
-- question: Which optimizers work on whole variables although a step uses a few rows of them?
-- reads: _computing_op, _dense_gradient
-- severity: high from half of the time of all ops, medium from a quarter, low from a tenth
-- impact: Ops of {scope} take {share} of the time of all ops: {impact_ps}[, of which adding the rows of a sparse gradient
--   takes {rows_ps}. The others work on the whole variable and its moments][. They work on all of its rows, of which a
--   step looks up at most {used_rows}].
-- action: Update only rows that a step used: LazyAdam (tf.contrib.opt.LazyAdamOptimizer in TensorFlow 1) instead of
--   Adam, or an optimizer that does so by itself, as Adagrad.
-- action_pytorch: Let the gradient have only the rows that were looked up: sparse=True of nn.Embedding, nn.EmbeddingBag
--   or functional.embedding (instead of indexing the table), and for the table an optimizer of its own that takes such
--   gradients: torch.optim.SparseAdam, Adagrad or SGD. Or make the table smaller: hash its ids into fewer rows.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: Adam decays its moments and moves the variable in each step, also where the gradient is zero. Of an
--   embedding with many rows that takes most of the step, however few of them the batch looked up. PyTorch makes
--   the gradient as large as the table and leaves most of its rows zero, unless it is told to make a sparse one.
-- formula: share = self times of the ops of an update_… scope that has a (Resource)ScatterAdd and a Sqrt / those of all
--   ops that compute on the host. Reported from 0.1 where the ops beside ScatterAdd take ten times as long as it.
--   Of PyTorch, where shapes were recorded: self times of elementwise ops, fills and optimizers that have a tensor of the
--   shape of a table / those of all ops, or the same of the kernels that they launched. Reported from 0.1, of tables of
--   2²⁰ numbers or more whose gradient is made of zeros of that shape and which a step uses for lookups only, of at
--   most a tenth of the rows.
-- columns:
--   impact_ps | ps | Self | self times of these ops, added up
--   run_id, host_id
--   scope | text | Scope | scope of the update, or the table
--   share | ratio | Share | part of the time of all ops
--   rows_ps | ps | Rows | self times of its ScatterAdd ops, added up
--   used_rows | int | Used rows | the most rows that a step looks up
WITH ops AS (
  SELECT
    columns!(o, run_id, host_id, op_name, op_type),
    SUM(o.kind_ps) AS own_ps,
    SUM(SUM(o.kind_ps)) OVER (PARTITION BY o.run_id, o.host_id) AS all_ps
  FROM _computing_op AS o
  WHERE o.class = 'compute' AND o.place = 'host'
  GROUP BY columns!(o, run_id, host_id, op_name, op_type)
),

updates AS (
  SELECT
    columns!(o, run_id, host_id),
    REPLACE(o.op_name, '/' || o.op_type, '') AS scope
  FROM ops AS o
  WHERE
    o.op_type IN ('ScatterAdd', 'ResourceScatterAdd')
    AND o.op_name LIKE '%/update_%'
    AND o.op_name LIKE '%/' || o.op_type
),

sums AS (
  SELECT
    columns!(u, run_id, host_id, scope),
    SUM(o.own_ps) AS scope_ps,
    sum_where!(o.op_type LIKE '%ScatterAdd', o.own_ps) AS rows_sum,
    sum_where!(o.op_type = 'Sqrt', 1) AS roots,
    MAX(o.all_ps) AS all_sum
  FROM updates AS u
  INNER JOIN ops AS o
    ON o.run_id = u.run_id AND o.host_id = u.host_id
    AND o.op_name LIKE '%/update_%'
    AND o.op_name LIKE u.scope || '/%'
    AND REPLACE(o.op_name, u.scope || '/', '') <> o.op_name
  GROUP BY columns!(u, run_id, host_id, scope)
)

SELECT
  severity!(s.scope_ps, s.all_sum) AS severity,
  CAST(s.scope_ps AS BIGINT) AS impact_ps,
  columns!(s, run_id, host_id, scope),
  share!(s.scope_ps, s.all_sum) AS share,
  CAST(s.rows_sum AS BIGINT) AS rows_ps,
  CAST(NULL AS BIGINT) AS used_rows
FROM sums AS s
WHERE s.roots > 0 AND s.scope_ps * 10 >= s.all_sum AND s.scope_ps >= 11 * s.rows_sum
UNION ALL
SELECT
  severity!(d.table_ps, d.all_ps) AS severity,
  d.table_ps AS impact_ps,
  columns!(d, run_id, host_id),
  'the table [' || CAST(d.table_rows AS VARCHAR) || ', ' || CAST(d.table_columns AS VARCHAR) || ']' AS scope,
  share!(d.table_ps, d.all_ps) AS share,
  CAST(NULL AS BIGINT) AS rows_ps,
  d.used_rows
FROM _dense_gradient AS d
WHERE d.table_ps * 10 >= d.all_ps
ORDER BY nulls_last!(impact_ps DESC, run_id, host_id, scope)

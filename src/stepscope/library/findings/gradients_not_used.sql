-- Backward passes compute unused gradients
--
-- question: How long do backward passes of PyTorch go on for gradients that no op reads afterwards, on a processor?
-- reads: slice, rollup_op, track_place
-- severity: medium from a quarter of the time of ops, low from a twentieth
-- impact: Computing the gradients of {tensors} {tensors:tensor|tensors} that no optimizer updates and no other op reads
--   takes {impact_ps} in {passes} backward {passes:pass|passes}: {share} of the time of ops. The last gradient has the
--   shape {shape}.
-- action: Call requires_grad_(False) on a model that is not trained. Where another model is trained on its output,
--   call detach() on that, as on what a generator gives to the discriminator.
-- notes: Tensors are told apart by shape alone: a tensor counts as used if another of its shape is. Only for
--   recordings with shapes and without a device.
-- weakened_by: lost, capped, truncated, missing
-- reasoning: backward() computes the gradients of all tensors with requires_grad that the loss comes from, whichever
--   optimizer the program steps. zero_grad() throws the others away, or they add up unseen.
-- formula: A gradient is not used where no op beside the backward passes takes its shape first, from its pass to one
--   that makes it anew, or to the end of a recording in which two updates follow; of an optimizer that updates
--   others. impact = nodes of backward passes after the last gradient that is used; share = impact / self times of
--   all ops of PyTorch. Reported from 0.05.
-- columns:
--   impact_ps | ps | Not used | time of these nodes, added up
--   run_id, host_id
--   share | ratio | Share | part of the time of all ops
--   tensors | int | Tensors | gradients that a pass computes last, and nothing uses
--   passes | int | Passes | backward passes that do so
--   shape | text | Shape | of the gradient that comes last
WITH judged AS (
  SELECT r.source_id AS of_source
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  GROUP BY r.source_id
  HAVING
    MAX(CASE WHEN r.name LIKE 'Optimizer.step#%' THEN 1 ELSE 0 END) = 1
    AND MAX(CASE WHEN r.name = 'torch::autograd::AccumulateGrad' THEN 1 ELSE 0 END) = 1
    AND MAX(CASE WHEN p.place = 'device' OR kernel_launch!(r.name) THEN 1 ELSE 0 END) = 0
    -- Where gradients are scattered, an optimizer updates pieces of another shape.
    AND MAX(CASE WHEN r.name LIKE '%reduce_scatter%' THEN 1 ELSE 0 END) = 0
),

dimensions AS (
  SELECT
    columns!(s, id, run_id, host_id, source_id, track_id, parent_id, ts_ps, dur_ps, self_ps, name, category),
    until!(s.name LIKE 'autograd::engine::evaluate_function%', s) AS gradient_until_ps,
    until!(s.name LIKE 'Optimizer.step#%', s) AS update_until_ps,
    arg!(s.args_json, "Input Dims"[0][0]) AS dim_0,
    arg!(s.args_json, "Input Dims"[0][1]) AS dim_1,
    arg!(s.args_json, "Input Dims"[0][2]) AS dim_2,
    arg!(s.args_json, "Input Dims"[0][3]) AS dim_3,
    arg!(s.args_json, "Input Dims"[0][4]) AS dim_4,
    arg!(s.args_json, "Input Dims"[0][5]) AS dim_5,
    CASE
      WHEN arg!(s.args_json, "Input Dims"[0][0][0]) IS NOT NULL THEN s.args_json
      WHEN s.name LIKE '%foreach%' OR s.name LIKE '%fused%' THEN s.args_json
    END AS list_json
  FROM slice AS s
  INNER JOIN judged AS j ON j.of_source = s.source_id
  WHERE s.category = 'cpu_op' OR s.name LIKE 'Optimizer.%'
),

moments AS (
  SELECT
    columns!(m, id, run_id, host_id, source_id, track_id, parent_id, ts_ps, dur_ps, self_ps, name, category),
    columns!(m, gradient_until_ps, update_until_ps, list_json),
    CASE
      WHEN m.dim_0 IS NOT NULL AND m.list_json IS NULL THEN CONCAT(
        '[',
        m.dim_0,
        CASE WHEN m.dim_1 IS NULL THEN '' ELSE CONCAT(',', m.dim_1) END,
        CASE WHEN m.dim_2 IS NULL THEN '' ELSE CONCAT(',', m.dim_2) END,
        CASE WHEN m.dim_3 IS NULL THEN '' ELSE CONCAT(',', m.dim_3) END,
        CASE WHEN m.dim_4 IS NULL THEN '' ELSE CONCAT(',', m.dim_4) END,
        CASE WHEN m.dim_5 IS NULL THEN '' ELSE CONCAT(',', m.dim_5) END,
        ']'
      )
    END AS first_shape,
    CASE WHEN m.gradient_until_ps IS NULL OR m.gradient_until_ps <= m.ts_ps THEN 1 ELSE 0 END AS outside
  FROM dimensions AS m
),

-- Within a backward pass nothing else runs on its thread: it is known by the op that comes before it.
numbered AS (
  SELECT
    columns!(m, id, run_id, host_id, source_id, track_id, parent_id, ts_ps, dur_ps, self_ps, name, category),
    columns!(m, gradient_until_ps, update_until_ps, first_shape, list_json, outside),
    COALESCE(
      MAX(CASE WHEN m.outside = 1 THEN m.id END) OVER (
        PARTITION BY m.track_id
        ORDER BY nulls_last!(m.ts_ps, m.dur_ps DESC, m.id)
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ),
      0
    ) AS pass
  FROM moments AS m
),

added AS (
  SELECT n.parent_id AS of_slice, COUNT(*) AS additions
  FROM numbered AS n
  WHERE n.name IN ('aten::add_', 'aten::add') AND n.parent_id IS NOT NULL
  GROUP BY n.parent_id
),

gathered AS (
  SELECT
    columns!(n, source_id, pass, first_shape, ts_ps),
    CASE WHEN a.additions IS NULL THEN 1 ELSE 0 END AS made,
    ROW_NUMBER() OVER (
      PARTITION BY columns!(n, source_id, pass, first_shape) ORDER BY nulls_last!(n.ts_ps, n.id)
    ) AS position,
    ROW_NUMBER() OVER (PARTITION BY n.source_id, n.pass ORDER BY nulls_last!(n.ts_ps, n.id)) AS place
  FROM numbered AS n
  LEFT JOIN added AS a ON a.of_slice = n.id
  WHERE n.name = 'torch::autograd::AccumulateGrad' AND n.first_shape IS NOT NULL
),

gradients AS (
  SELECT
    columns!(g, source_id, pass, first_shape),
    COUNT(*) AS tensors,
    MIN(g.ts_ps) AS from_ps,
    MAX(g.ts_ps) AS last_ps,
    SUM(g.made) AS made_count
  FROM gathered AS g
  GROUP BY columns!(g, source_id, pass, first_shape)
),

followed AS (
  SELECT
    columns!(g, source_id, pass, first_shape, tensors, last_ps),
    LEAD(g.made_count) OVER (
      PARTITION BY g.source_id, g.first_shape ORDER BY nulls_last!(g.from_ps)
    ) AS made_next,
    LEAD(g.from_ps) OVER (
      PARTITION BY g.source_id, g.first_shape ORDER BY nulls_last!(g.from_ps)
    ) AS next_ps
  FROM gradients AS g
),

shapes AS (
  SELECT g.source_id, g.first_shape AS shape
  FROM gradients AS g
  GROUP BY g.source_id, g.first_shape
),

-- These take a parameter first when a model runs, and no gradient.
taken AS (
  SELECT
    columns!(n, source_id, name, ts_ps, first_shape, list_json),
    CASE WHEN n.ts_ps < n.update_until_ps THEN n.update_until_ps END AS updated_until_ps
  FROM numbered AS n
  WHERE
    n.category = 'cpu_op' AND n.outside = 1 AND (n.first_shape IS NOT NULL OR n.list_json IS NOT NULL)
    AND n.name NOT IN (
      'aten::t', 'aten::transpose', 'aten::as_strided', 'aten::expand', 'aten::addmm', 'aten::embedding',
      'aten::detach', 'detach'
    )
),

-- An op on a list of tensors may take all of a shape that is in it.
used AS (
  SELECT columns!(k, source_id, name, updated_until_ps), k.ts_ps AS used_ps, s.shape, 1 AS held
  FROM taken AS k
  INNER JOIN shapes AS s ON s.source_id = k.source_id AND s.shape = k.first_shape
  UNION ALL
  SELECT columns!(k, source_id, name, updated_until_ps), k.ts_ps AS used_ps, s.shape, 1000000 AS held
  FROM taken AS k
  INNER JOIN shapes AS s ON s.source_id = k.source_id AND k.list_json LIKE CONCAT('%', s.shape, '%')
  WHERE k.list_json IS NOT NULL
),

updates AS (
  SELECT n.source_id, COUNT(*) AS calls
  FROM numbered AS n
  WHERE n.name LIKE 'Optimizer.step#%'
  GROUP BY n.source_id
),

seen AS (
  SELECT u.source_id, COUNT(DISTINCT u.updated_until_ps) AS calls_seen
  FROM used AS u
  GROUP BY u.source_id
),

ever AS (
  SELECT u.source_id, u.shape, COUNT(*) AS uses
  FROM used AS u
  GROUP BY u.source_id, u.shape
),

-- Of each shape, passes and ops in the order of time: an op takes the gradients of the pass before it.
in_time AS (
  SELECT
    columns!(f, source_id, first_shape),
    f.last_ps AS at_ps,
    columns!(f, last_ps, next_ps),
    '' AS name,
    CAST(NULL AS BIGINT) AS updated_until_ps,
    0 AS held
  FROM followed AS f
  UNION ALL
  SELECT
    u.source_id,
    u.shape AS first_shape,
    u.used_ps AS at_ps,
    CAST(NULL AS BIGINT) AS last_ps,
    CAST(NULL AS BIGINT) AS next_ps,
    columns!(u, name, updated_until_ps, held)
  FROM used AS u
),

after_pass AS (
  SELECT
    columns!(t, source_id, first_shape, at_ps, name, updated_until_ps, held),
    MAX(t.last_ps) OVER (
      PARTITION BY t.source_id, t.first_shape
      ORDER BY nulls_last!(t.at_ps)
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS pass_ps,
    MAX(t.next_ps) OVER (
      PARTITION BY t.source_id, t.first_shape
      ORDER BY nulls_last!(t.at_ps)
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS until_ps
  FROM in_time AS t
),

uses AS (
  SELECT
    columns!(f, source_id, pass, first_shape),
    columns!(u, name, updated_until_ps),
    SUM(u.held) AS held_count
  FROM followed AS f
  INNER JOIN after_pass AS u
    ON u.source_id = f.source_id AND u.first_shape = f.first_shape AND u.pass_ps = f.last_ps
  WHERE u.held > 0 AND u.at_ps > u.pass_ps AND u.at_ps < u.until_ps
  GROUP BY columns!(f, source_id, pass, first_shape), columns!(u, name, updated_until_ps)
),

-- An update has several ops for each tensor.
updated AS (
  SELECT columns!(u, source_id, pass, first_shape, updated_until_ps), MAX(u.held_count) AS most_held
  FROM uses AS u
  GROUP BY columns!(u, source_id, pass, first_shape, updated_until_ps)
),

-- Where an optimizer updates tensors of a shape, other ops may take others of it, such as the outputs of a batch.
most_uses AS (
  SELECT
    columns!(u, source_id, pass, first_shape),
    COALESCE(
      SUM(CASE WHEN u.updated_until_ps IS NOT NULL THEN u.most_held END),
      SUM(u.most_held)
    ) AS most_used
  FROM updated AS u
  GROUP BY columns!(u, source_id, pass, first_shape)
),

-- The update before the last one: a gradient of an earlier time is followed by two.
numbered_updates AS (
  SELECT
    columns!(n, source_id, ts_ps),
    ROW_NUMBER() OVER (PARTITION BY n.source_id ORDER BY nulls_last!(n.ts_ps DESC, n.id)) AS position
  FROM numbered AS n
  WHERE n.name LIKE 'Optimizer.step#%'
),

-- How many of them something may use: all but those that are made anew before.
bounded AS (
  SELECT
    columns!(f, source_id, pass, first_shape, tensors),
    CASE
      WHEN e.uses IS NULL AND f.last_ps < l.ts_ps THEN 0
      WHEN COALESCE(m.most_used, 0) + f.made_next >= f.tensors AND m.most_used < f.tensors THEN m.most_used
      WHEN m.most_used IS NULL AND f.made_next >= f.tensors THEN 0
      ELSE f.tensors
    END AS used_tensors
  FROM followed AS f
  LEFT JOIN most_uses AS m
    ON m.source_id = f.source_id AND m.pass = f.pass AND m.first_shape = f.first_shape
  LEFT JOIN ever AS e ON e.source_id = f.source_id AND e.shape = f.first_shape
  LEFT JOIN numbered_updates AS l ON l.source_id = f.source_id AND l.position = 2
),

judged_gradients AS (
  SELECT
    columns!(g, source_id, pass, first_shape, ts_ps, place),
    CASE WHEN g.position <= b.used_tensors THEN 1 ELSE 0 END AS is_used,
    CASE WHEN b.used_tensors > 0 AND b.used_tensors < b.tensors THEN 1 ELSE 0 END AS is_shared
  FROM gathered AS g
  INNER JOIN bounded AS b
    ON b.source_id = g.source_id AND b.pass = g.pass AND b.first_shape = g.first_shape
),

-- Of those that share a shape, the first are used if all that come first are.
passes AS (
  SELECT
    columns!(g, source_id, pass),
    MAX(CASE WHEN g.is_used = 1 THEN g.ts_ps END) AS kept_ps
  FROM judged_gradients AS g
  GROUP BY g.source_id, g.pass
  HAVING
    MAX(g.is_used) = 1 AND MIN(g.is_used) = 0
    AND (MAX(g.is_shared) = 0 OR MAX(CASE WHEN g.is_used = 1 THEN g.place END) = SUM(g.is_used))
),

-- An optimizer whose updates cannot be seen may use any gradient.
proved AS (
  SELECT columns!(p, source_id, pass, kept_ps)
  FROM passes AS p
  INNER JOIN updates AS u ON u.source_id = p.source_id
  INNER JOIN seen AS e ON e.source_id = p.source_id AND e.calls_seen = u.calls
),

nodes AS (
  SELECT
    columns!(n, run_id, host_id, source_id, pass, dur_ps),
    p.kept_ps
  FROM numbered AS n
  INNER JOIN proved AS p ON p.source_id = n.source_id AND p.pass = n.pass AND n.ts_ps > p.kept_ps
  WHERE n.name LIKE 'autograd::engine::evaluate_function%' AND n.ts_ps + n.dur_ps = n.gradient_until_ps
),

wasted AS (
  SELECT columns!(n, run_id, host_id), SUM(n.dur_ps) AS wasted_ps, COUNT(DISTINCT n.pass) AS pass_count
  FROM nodes AS n
  GROUP BY n.run_id, n.host_id
),

last_tensors AS (
  SELECT
    columns!(g, source_id, pass, first_shape),
    COUNT(*) OVER (PARTITION BY g.source_id, g.pass) AS gradient_count,
    ROW_NUMBER() OVER (PARTITION BY g.source_id ORDER BY nulls_last!(g.ts_ps DESC)) AS position
  FROM judged_gradients AS g
  INNER JOIN proved AS p ON p.source_id = g.source_id AND p.pass = g.pass AND g.ts_ps > p.kept_ps
),

hosts AS (
  SELECT
    columns!(n, run_id, host_id),
    MIN(n.source_id) AS first_source,
    SUM(CASE WHEN n.category = 'cpu_op' THEN n.self_ps ELSE 0 END) AS all_ps
  FROM numbered AS n
  GROUP BY n.run_id, n.host_id
)

SELECT
  CASE WHEN w.wasted_ps * 4 >= h.all_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(w.wasted_ps AS BIGINT) AS impact_ps,
  columns!(w, run_id, host_id),
  share!(w.wasted_ps, h.all_ps) AS share,
  CAST(l.gradient_count AS BIGINT) AS tensors,
  CAST(w.pass_count AS BIGINT) AS passes,
  l.first_shape AS shape
FROM wasted AS w
INNER JOIN hosts AS h ON h.run_id = w.run_id AND h.host_id = w.host_id
INNER JOIN last_tensors AS l ON l.source_id = h.first_source AND l.position = 1
WHERE w.wasted_ps * 20 >= h.all_ps
ORDER BY nulls_last!(w.wasted_ps DESC, w.run_id, w.host_id)

-- A product with one-hot rows looks up rows of a table
--
-- question: Which products of matrices only pick rows, since one of their factors is made by OneHot?
-- reads: slice, rollup_op, tensor, _computing_op
-- severity: high from half of the time of all ops, medium from a quarter, low from a tenth
-- impact: {op} makes[ {one_hot_bytes} of] zeros and ones, and {product} multiplies them by a table, which picks a row of it
--   for each id. {op} and the products with it take {share} of the time of all ops: {impact_ps}.
-- action: Look the rows up: tf.nn.embedding_lookup(table, ids), or tf.gather. Their gradient has only these rows, too.
-- notes: Of RunMetadata, which has the inputs of ops. Between OneHot and the product may lie up to two ops that change its
--   shape or type.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: A row of zeros with a single one, times a table, is a row of the table. The product reads the whole table for
--   each id, and its gradient writes a whole table.
-- formula: share = self times of OneHot and of the products of matrices that have it as their first factor / those of all
--   ops that compute. Reported from 0.1.
-- columns:
--   impact_ps | ps | Self | self times of these ops, added up
--   run_id, host_id
--   op | text | OneHot op | its name
--   product | text | Product | the product that takes longest, which is no gradient's where there is another
--   share | ratio | Share | part of the time of all ops
--   one_hot_bytes | bytes | One-hot bytes | what OneHot makes in a step
WITH runs AS (
  SELECT
    columns!(s, run_id, host_id, op_name),
    r.op_type AS wired_type,
    arg!(s.args_json, inputs[0]) AS first_input
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  WHERE
    s.op_name IS NOT NULL AND (
      product!(r.op_type)
      OR r.op_type IN ('OneHot', 'Reshape', 'Transpose', 'ExpandDims', 'Squeeze', 'Cast', 'Identity')
    )
),

wired AS (
  SELECT columns!(s, run_id, host_id, op_name, wired_type, first_input)
  FROM runs AS s
  GROUP BY columns!(s, run_id, host_id, op_name, wired_type, first_input)
),

direct AS (
  SELECT columns!(w, run_id, host_id, op_name), w.op_name AS made_as
  FROM wired AS w
  WHERE w.wired_type = 'OneHot'
),

changed AS (
  SELECT columns!(d, run_id, host_id, op_name), w.op_name AS changed_to
  FROM direct AS d
  INNER JOIN wired AS w ON w.run_id = d.run_id AND w.host_id = d.host_id AND w.first_input = d.made_as
  WHERE NOT product!(w.wired_type)
),

changed_again AS (
  SELECT columns!(c, run_id, host_id, op_name), w.op_name AS changed_again_to
  FROM changed AS c
  INNER JOIN wired AS w ON w.run_id = c.run_id AND w.host_id = c.host_id AND w.first_input = c.changed_to
  WHERE NOT product!(w.wired_type)
),

factors AS (
  SELECT columns!(d, run_id, host_id, op_name), d.made_as AS factor
  FROM direct AS d
  UNION ALL
  SELECT columns!(c, run_id, host_id, op_name), c.changed_to AS factor
  FROM changed AS c
  UNION ALL
  SELECT columns!(a, run_id, host_id, op_name), a.changed_again_to AS factor
  FROM changed_again AS a
),

products AS (
  SELECT
    columns!(f, run_id, host_id),
    f.op_name AS one_hot,
    w.op_name AS multiplies,
    MAX(CASE WHEN w.op_name LIKE '%gradients%/%_grad/%' THEN 1 ELSE 0 END) AS of_gradient
  FROM factors AS f
  INNER JOIN wired AS w ON w.run_id = f.run_id AND w.host_id = f.host_id AND w.first_input = f.factor
  WHERE product!(w.wired_type)
  GROUP BY columns!(f, run_id, host_id), f.op_name, w.op_name
),

ops AS (
  SELECT
    columns!(o, run_id, host_id, op_name),
    SUM(o.kind_ps) AS own_ps,
    SUM(SUM(o.kind_ps)) OVER (PARTITION BY o.run_id, o.host_id, o.place) AS all_ps
  FROM _computing_op AS o
  WHERE o.class = 'compute'
  GROUP BY columns!(o, run_id, host_id, op_name, place)
),

ranked AS (
  SELECT
    columns!(p, run_id, host_id, one_hot, multiplies),
    o.own_ps,
    ROW_NUMBER() OVER (
      PARTITION BY p.run_id, p.host_id, p.one_hot
      ORDER BY nulls_last!(p.of_gradient, o.own_ps DESC, p.multiplies)
    ) AS place_in_list
  FROM products AS p
  INNER JOIN ops AS o ON o.run_id = p.run_id AND o.host_id = p.host_id AND o.op_name = p.multiplies
),

sums AS (
  SELECT
    columns!(r, run_id, host_id, one_hot),
    SUM(r.own_ps) AS products_ps,
    MAX(CASE WHEN r.place_in_list = 1 THEN r.multiplies END) AS longest
  FROM ranked AS r
  GROUP BY columns!(r, run_id, host_id, one_hot)
),

made AS (
  SELECT columns!(t, run_id, op_name), MAX(t.requested_bytes) AS made_bytes
  FROM tensor AS t
  WHERE t.slot = 0
  GROUP BY columns!(t, run_id, op_name)
)

SELECT
  severity!((s.products_ps + o.own_ps), o.all_ps) AS severity,
  CAST(s.products_ps + o.own_ps AS BIGINT) AS impact_ps,
  s.run_id,
  s.host_id,
  s.one_hot AS op,
  s.longest AS product,
  share!(s.products_ps + o.own_ps, o.all_ps) AS share,
  m.made_bytes AS one_hot_bytes
FROM sums AS s
INNER JOIN ops AS o ON o.run_id = s.run_id AND o.host_id = s.host_id AND o.op_name = s.one_hot
LEFT JOIN made AS m ON m.run_id = s.run_id AND m.op_name = s.one_hot
WHERE (s.products_ps + o.own_ps) * 10 >= o.all_ps
ORDER BY nulls_last!(impact_ps DESC, s.run_id, s.host_id, s.one_hot)

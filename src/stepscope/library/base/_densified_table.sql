-- Of which tables did a program of TensorFlow 1 make a sparse gradient dense, and what do ops on all their rows take?
--
-- reads: slice, rollup_op, tensor, _computing_op
-- notes: Of RunMetadata, which has the bytes of what ops made. The gradient of a lookup has the rows that were looked
--   up; what computes with it as with a tensor adds them up into one of all rows (UnsortedSegmentSum), and an optimizer
--   takes that one. Left out are tables whose gradient is of all rows by itself, since a product makes such a tensor,
--   and variables that the optimizer has by a handle: it makes no tensor of their shape.
-- columns:
--   run_id, host_id
--   scope | text | scope of the update
--   used_rows | int | the most rows that a step adds up
--   table_ps | ps | self times of ops that make a tensor of the table's shape
--   all_ps | ps | those of all ops that compute on the host
WITH made AS (
  SELECT
    columns!(t, run_id, source_id, op_name),
    MAX(t.shape) AS all_rows,
    MAX(t.requested_bytes) AS most_bytes,
    MAX(t.dtype) AS type
  FROM tensor AS t
  WHERE t.slot = 0 AND t.shape IS NOT NULL
  GROUP BY columns!(t, run_id, source_id, op_name)
),

sums AS (
  SELECT
    columns!(s, run_id, host_id, source_id),
    s.op_name AS adding,
    arg!(s.args_json, inputs[0]) AS values_name,
    arg!(s.args_json, inputs[1]) AS ids_name
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  WHERE r.op_type = 'UnsortedSegmentSum'
),

tables AS (
  SELECT
    columns!(a, run_id, host_id),
    m.all_rows,
    MAX(CAST(i.most_bytes AS DOUBLE) / CASE WHEN i.type = 'DT_INT64' THEN 8 ELSE 4 END) AS step_rows
  FROM sums AS a
  INNER JOIN made AS m ON m.source_id = a.source_id AND m.op_name = a.adding
  INNER JOIN made AS v ON v.source_id = a.source_id AND v.op_name = a.values_name
  INNER JOIN made AS i ON i.source_id = a.source_id AND i.op_name = a.ids_name
  WHERE m.most_bytes >= 4194304
  GROUP BY columns!(a, run_id, host_id), m.all_rows
  HAVING MAX(v.most_bytes) * 10 <= MIN(m.most_bytes)
),

whole AS (
  SELECT columns!(m, run_id, op_name, all_rows)
  FROM made AS m
  GROUP BY columns!(m, run_id, op_name, all_rows)
),

ops AS (
  SELECT
    columns!(o, run_id, host_id, op_name, op_type),
    SUM(o.kind_ps) AS own_ps,
    SUM(SUM(o.kind_ps)) OVER (PARTITION BY o.run_id, o.host_id) AS whole_ps
  FROM _computing_op AS o
  WHERE o.class = 'compute' AND o.place = 'host'
  GROUP BY columns!(o, run_id, host_id, op_name, op_type)
)

SELECT
  columns!(t, run_id, host_id),
  MIN(CASE WHEN o.op_type LIKE 'Apply%' THEN REPLACE(o.op_name, '/' || o.op_type, '') END) AS scope,
  whole!(MAX(t.step_rows)) AS used_rows,
  CAST(
    sum_where!(o.op_type NOT LIKE 'Variable%' AND o.op_type <> 'Identity', o.own_ps) AS BIGINT
  ) AS table_ps,
  CAST(MAX(o.whole_ps) AS BIGINT) AS all_ps
FROM tables AS t
INNER JOIN whole AS w ON w.run_id = t.run_id AND w.all_rows = t.all_rows
INNER JOIN ops AS o ON o.run_id = t.run_id AND o.host_id = t.host_id AND o.op_name = w.op_name
GROUP BY columns!(t, run_id, host_id), t.all_rows
HAVING
  SUM(CASE WHEN o.op_type LIKE 'Apply%' THEN 1 ELSE 0 END) > 0
  AND SUM(CASE WHEN product!(o.op_type) THEN 1 ELSE 0 END) = 0

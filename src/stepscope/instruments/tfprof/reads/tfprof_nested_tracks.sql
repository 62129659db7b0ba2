-- On which threads do slices not name their op, or do Python calls lie around it?
--
-- reads: _nested_kind
-- columns:
--   track_id
WITH counted AS (
  SELECT
    k.track_id,
    sum_where!(k.is_op, 1) AS ops,
    sum_where!(k.is_frame OR (k.is_op AND k.op_name IS NULL), 1) AS nested
  FROM _nested_kind AS k
  WHERE k.place IN ('host', 'launch')
  GROUP BY k.track_id
)

SELECT c.track_id
FROM counted AS c
WHERE c.ops > 0 AND c.nested > 0
ORDER BY c.track_id NULLS LAST

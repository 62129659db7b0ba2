-- Is there an op whose type is known?
--
-- reads: op_sum
-- notes: One row, or none where every op has the name of its type.
-- columns:
--   op | text | name of the op that comes first
SELECT o.op
FROM op_sum AS o
WHERE o.op <> o.op_type
ORDER BY o.op NULLS LAST
LIMIT 1

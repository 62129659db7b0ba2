-- How much time do the samples represent that have these calls outermost?
--
-- reads: stack, stack_sample
-- parameters:
--   stack_id | int | the stack
-- columns:
--   samples | int | samples that begin with its frames
--   time_ps | ps | time that they represent
--   own_ps | ps | the part of it in which nothing more was called
WITH RECURSIVE below AS (
  SELECT k.id
  FROM stack AS k
  WHERE k.id = $stack_id
  UNION ALL
  SELECT k.id
  FROM below AS b
  INNER JOIN stack AS k ON k.parent_id = b.id AND k.id > b.id
)

SELECT
  COUNT(*) AS samples,
  sum!(m.weight_ps) AS time_ps,
  CAST(sum_where!(m.stack_id = $stack_id, m.weight_ps) AS BIGINT) AS own_ps
FROM below AS b
INNER JOIN stack_sample AS m ON m.stack_id = b.id

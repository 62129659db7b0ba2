-- Which ops are work of the input though their threads do not tell, as an input pipeline captured their function?
--
-- reads: slice, rollup_op
-- notes: An executor runs a function; the ops of the function are its children, on threads on which the program's own ops
--   may run under the same names. The call of a captured function has the same number as its executors.
-- columns:
--   slice_id | int | number of the slice
--   source_id
--   of_rollup | int | row of rollup_op that it is added up in
--   spent_ps | ps | its self time, as in op_slice
WITH numbered AS (
  SELECT
    s.id AS of_slice,
    s.source_id,
    CASE WHEN r.name LIKE 'ExecutorState::%' THEN 1 ELSE 0 END AS runs,
    CASE WHEN s.args_json LIKE '%"id"%' THEN arg!(s.args_json, id) END AS function_id
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  WHERE r.name LIKE 'InstantiatedCapturedFunction::%' OR r.name LIKE 'ExecutorState::%'
),

functions AS (
  SELECT n.source_id, n.function_id
  FROM numbered AS n
  WHERE n.runs = 0
  GROUP BY n.source_id, n.function_id
),

executors AS (
  SELECT n.of_slice AS executor_id
  FROM numbered AS n
  INNER JOIN functions AS f ON f.source_id = n.source_id AND f.function_id = n.function_id
  WHERE n.runs = 1
)

SELECT
  s.id AS slice_id,
  s.source_id,
  s.rollup_id AS of_rollup,
  COALESCE(s.op_self_ps, s.self_ps) AS spent_ps
FROM slice AS s
INNER JOIN executors AS e ON e.executor_id = s.parent_id
INNER JOIN rollup_op AS r ON r.id = s.rollup_id
WHERE r.is_op AND r.class NOT IN ('input', 'wait')

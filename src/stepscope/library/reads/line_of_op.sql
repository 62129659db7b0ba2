-- The line that made an op
--
-- question: Which line of the program made an op, where an op log or a compiled program says?
-- reads: op_line, hlo_instruction
-- parameters:
--   run_id | text | run
--   op | text | name of the op
-- columns:
--   file | text | file of the innermost call outside the frameworks
--   line | int | line in that file
--   function | text | function that contains that line
WITH lines AS (
  SELECT 1 AS place, o.id, o.file, o.line, o.function
  FROM op_line AS o
  WHERE o.run_id = $run_id AND o.op_name = $op AND o.file IS NOT NULL
  UNION ALL
  SELECT 2 AS place, h.id, h.file, h.line, h.function
  FROM hlo_instruction AS h
  WHERE h.run_id = $run_id AND h.name = $op AND h.file IS NOT NULL
)

SELECT l.file, l.line, l.function
FROM lines AS l
ORDER BY l.place NULLS LAST, l.id NULLS LAST
LIMIT 1

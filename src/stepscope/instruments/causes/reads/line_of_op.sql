-- Which line of the program made an op, where an op log or a compiled program says?
--
-- reads: op_line, _written_instruction
-- parameters: run_id
--   op | text | name of the op
--   forward | text | of a gradient, the op that it belongs to; else the same name
-- columns:
--   file, line, function
--   caller_file | text | file of the call of that function; NULL where that is not known
--   caller_line | int | line of that call
--   caller_function | text | function that contains that line
WITH lines AS (
  SELECT
    CASE WHEN o.op_name = $forward THEN 1 ELSE 2 END AS place,
    columns!(o, id, file, line, function, caller_file, caller_line, caller_function)
  FROM op_line AS o
  WHERE o.run_id = $run_id AND o.op_name IN ($op, $forward) AND o.file IS NOT NULL
  UNION ALL
  SELECT
    3 AS place,
    h.id, h.in_file AS file, h.on_line AS line, h.in_function AS function,
    CAST(NULL AS VARCHAR) AS caller_file,
    CAST(NULL AS INTEGER) AS caller_line,
    CAST(NULL AS VARCHAR) AS caller_function
  FROM _written_instruction AS h
  WHERE h.run_id = $run_id AND h.name = $op AND h.in_file IS NOT NULL
)

SELECT l.file, l.line, l.function, l.caller_file, l.caller_line, l.caller_function
FROM lines AS l
ORDER BY nulls_last!(l.place, l.id)
LIMIT 1

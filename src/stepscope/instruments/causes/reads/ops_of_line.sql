-- Which ops did a line of the program make, itself or by what it calls?
--
-- reads: op_line
-- parameters: run_id
--   file | text | file
--   line | int | line in that file
-- columns:
--   op_name
SELECT o.op_name
FROM op_line AS o
WHERE
  o.run_id = $run_id
  AND ((o.file = $file AND o.line = $line) OR (o.caller_file = $file AND o.caller_line = $line))
ORDER BY o.id NULLS LAST

-- Which line of the program made each op of a run?
--
-- reads: op_line
-- parameters: run_id
-- columns:
--   op_name, file, line, function
SELECT o.op_name, o.file, o.line, o.function
FROM op_line AS o
WHERE o.run_id = $run_id
ORDER BY o.id NULLS LAST

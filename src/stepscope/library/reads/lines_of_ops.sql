-- Lines that made ops
--
-- question: Which line of the program made each op of a run?
-- reads: op_line
-- parameters:
--   run_id | text | run
-- columns:
--   op_name | text | node
--   file | text | file of the innermost call outside the frameworks
--   line | int | line in that file
--   function | text | function that contains that line
SELECT o.op_name, o.file, o.line, o.function
FROM op_line AS o
WHERE o.run_id = $run_id
ORDER BY o.id NULLS LAST

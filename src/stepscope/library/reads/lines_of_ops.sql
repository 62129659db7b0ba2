-- Lines that made ops
--
-- question: Which line of the program made each op of a run, where an op log tells?
-- reads: op_line
-- notes: An op that several graphs have, made by different lines, is left out.
-- parameters:
--   run_id | text | run
-- columns:
--   op | text | name of the op
--   in_file | text | file of the innermost call outside the frameworks
--   on_line | int | line in that file
SELECT o.op_name AS op, MIN(o.file) AS in_file, MIN(o.line) AS on_line
FROM op_line AS o
WHERE o.run_id = $run_id AND o.file IS NOT NULL AND o.line IS NOT NULL
GROUP BY o.op_name
HAVING MIN(o.file) = MAX(o.file) AND MIN(o.line) = MAX(o.line)
ORDER BY o.op_name NULLS LAST

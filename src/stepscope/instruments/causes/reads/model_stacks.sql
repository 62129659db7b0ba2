-- On top of which stacks of a source is a function that loads a model or makes its layers?
--
-- reads: stack, _frame_purpose
-- parameters: source_id
-- columns:
--   stack_id | int | number of the stack
SELECT k.id AS stack_id
FROM stack AS k
INNER JOIN _frame_purpose AS p ON p.frame_id = k.frame_id
WHERE k.source_id = $source_id AND p.purpose = 'model'
ORDER BY k.id NULLS LAST

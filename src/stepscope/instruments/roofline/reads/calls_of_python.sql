-- Which calls of Python did a recorder trace?
--
-- reads: rollup_op
-- columns:
--   rollup_id | int | row of rollup_op that they are added up in
--   name | text | name as found, with the file
SELECT r.id AS rollup_id, r.name
FROM rollup_op AS r
WHERE r.category = 'python_function'
ORDER BY r.id NULLS LAST

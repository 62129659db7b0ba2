-- Which rows of rollup_op have slices on them, and what are they called?
--
-- reads: rollup_op
-- columns:
--   on_rollup | int | row of rollup_op
--   name
SELECT r.id AS on_rollup, r.name
FROM rollup_op AS r
ORDER BY r.id NULLS LAST

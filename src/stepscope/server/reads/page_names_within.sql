-- What are the slices called that lie directly on slices of some rows of rollup_op, and how many are there?
--
-- reads: slice, rollup_op
-- parameters:
--   rollups | ints | rows of rollup_op
-- columns:
--   on_rollup | int | row of rollup_op of the slices on top
--   name
--   number | int | how many there are
SELECT r.id AS on_rollup, r.name, COUNT(*) AS number
FROM slice AS p
INNER JOIN slice AS s ON s.parent_id = p.id
INNER JOIN rollup_op AS r ON r.id = s.rollup_id
WHERE p.rollup_id IN $rollups
GROUP BY r.id, r.name
ORDER BY r.id NULLS LAST

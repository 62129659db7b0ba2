-- Which slices lie directly on a slice, and how many are there?
--
-- reads: slice, _source_shift
-- parameters: slice_id
--   most | int | children to list
-- columns:
--   id | int | number of the child
--   name | text | its name
--   begin_ps | ps | start on the axis of time
--   dur_ps
--   children | int | children that there are
SELECT s.id, s.name, s.ts_ps + f.shift_ps AS begin_ps, s.dur_ps, COUNT(*) OVER (PARTITION BY s.parent_id) AS children
FROM slice AS s
INNER JOIN _source_shift AS f ON f.source_id = s.source_id
WHERE s.parent_id = $slice_id
ORDER BY nulls_last!(begin_ps, s.id)
LIMIT $most

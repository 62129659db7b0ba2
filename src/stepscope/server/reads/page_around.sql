-- Which slices of the same track is a slice within, and which op or line of the program do they name?
--
-- reads: slice
-- notes: Slices of one track nest; of those that cover it, the page follows parents from the innermost on.
-- parameters: slice_id
-- columns:
--   id | int | number of the slice around it
--   parent_id | int | innermost slice that contains that one
--   name, category, op_name, op_type
WITH here AS (
  SELECT s.track_id, s.depth, s.ts_ps, s.ts_ps + s.dur_ps AS end_ps
  FROM slice AS s
  WHERE s.id = $slice_id
)

SELECT
  columns!(s, id, parent_id, name, category, op_name, op_type)
FROM slice AS s
INNER JOIN here AS h
  ON s.track_id = h.track_id AND s.depth < h.depth AND s.ts_ps <= h.ts_ps AND s.ts_ps + s.dur_ps >= h.end_ps
ORDER BY nulls_last!(s.depth DESC, s.id)

-- Which slices are ops, and which are Python calls around ops?
--
-- reads: rollup_op, track_place
-- columns:
--   rollup_id | int | number of the row of rollup_op that they are added up in
--   source_id, track_id, place, device, name, category, op_name
--   type_or_name | text | type, as in op_slice; NULL for what is not an op
--   is_op
--   is_frame | bool | they are calls of a Python function
SELECT
  r.id AS rollup_id,
  columns!(r, source_id, track_id),
  columns!(p, place, device),
  columns!(r, name, category, op_name),
  CASE WHEN r.is_op THEN COALESCE(r.op_type, r.op_name, r.name) END AS type_or_name,
  r.is_op,
  COALESCE(r.category = 'python_function', FALSE)
  OR (r.name LIKE '$%' AND p.producer IN ('tf_profiler', 'jax', 'stepscope')) AS is_frame
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id

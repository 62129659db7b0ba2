-- What slices that are called alike are to the ops around them
--
-- question: Which slices are ops, and which are Python calls around ops?
-- reads: rollup_op, track_place
-- columns:
--   rollup_id | int | Kind | number of the row of rollup_op that they are added up in
--   source_id | int | Source | source they were read from
--   track_id | int | Track | track they lie on
--   place | text | Place | device, host, launch or none, as in track_place
--   device | text | Device | device of the track, as in track_place
--   name | text | Name | name as found
--   category | text | Category | category as found
--   op_name | text | Op | name of the op, where the slices have it
--   type_or_name | text | Op type | type, as in op_slice; NULL for what is not an op
--   is_op | bool | Is an op | they are in the view op_slice
--   is_frame | bool | Is a call | they are calls of a Python function
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

-- Slices with what they are to the ops around them
--
-- question: Which slices are ops, and which are Python calls around ops?
-- reads: slice, track_place, op_slice
-- columns:
--   id | int | Slice | number of the slice
--   source_id | int | Source | source it was read from
--   track_id | int | Track | track it lies on
--   place | text | Place | device, host, launch or none, as in track_place
--   device | text | Device | device of the track, as in track_place
--   depth | int | Depth | 0 for a slice without a parent
--   name | text | Name | name as found
--   category | text | Category | category as found
--   ts_ps | ps | Start | start, from the capture's origin
--   dur_ps | ps | Duration | duration with children
--   own_ps | ps | Self time | self time, of ops as in op_slice
--   step | int | Step | step during which it started
--   op_name | text | Op | name of the op, where the slice has it
--   op_type | text | Op type | type, as in op_slice; NULL for what is not an op
--   correlation_id | int | Launch | links a launch with what it launched
--   args_json | text | Values | every named value, as a JSON object
--   is_op | bool | Is an op | it is in the view op_slice
--   is_frame | bool | Is a call | it is a call of a Python function
SELECT
  s.id,
  s.source_id,
  s.track_id,
  p.place,
  p.device,
  s.depth,
  s.name,
  s.category,
  s.ts_ps,
  s.dur_ps,
  COALESCE(s.op_self_ps, s.self_ps) AS own_ps,
  s.step,
  s.op_name,
  o.op_type,
  s.correlation_id,
  s.args_json,
  o.slice_id IS NOT NULL AS is_op,
  COALESCE(s.category = 'python_function', FALSE)
  OR (s.name LIKE '$%' AND p.producer IN ('tf_profiler', 'jax', 'stepscope')) AS is_frame
FROM slice AS s
INNER JOIN track_place AS p ON p.track_id = s.track_id
LEFT JOIN op_slice AS o ON o.slice_id = s.id

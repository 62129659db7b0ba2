-- A slice for a page
--
-- question: What is known of a slice?
-- reads: slice, _source_shift
-- parameters:
--   slice_id | int | number of the slice
-- columns:
--   id | int | number of the slice
--   run_id, host_id, source_id
--   track_id | int | track it lies on
--   name | text | name as found
--   category | text | category as found
--   begin_ps | ps | start on the axis of time
--   dur_ps | ps | duration with children
--   depth | int | 0 for a slice without a parent
--   parent_id | int | innermost slice that contains this one
--   self_ps | ps | duration without what lies on top of it
--   op_self_ps | ps | of an op: self time with that of slices within it that are neither ops nor waits
--   step | int | step during which it started
--   op_name | text | op that it executes
--   op_type | text | type of that op
--   correlation_id | int | links a launch with what it launched
--   args_json | text | named values
SELECT
  columns!(s, id, run_id, host_id, source_id, track_id, name, category),
  s.ts_ps + f.shift_ps AS begin_ps,
  columns!(s, dur_ps, depth, parent_id, self_ps, op_self_ps, step, op_name, op_type, correlation_id, args_json)
FROM slice AS s
INNER JOIN _source_shift AS f ON f.source_id = s.source_id
WHERE s.id = $slice_id
ORDER BY s.id NULLS LAST

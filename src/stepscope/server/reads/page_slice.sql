-- A slice for a page
--
-- question: What is known of a slice?
-- reads: slice, _source_shift
-- parameters:
--   slice_id | int | number of the slice
-- columns:
--   id | int | number of the slice
--   run_id | text | run
--   host_id | text | host
--   source_id | int | source
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
  s.id,
  s.run_id,
  s.host_id,
  s.source_id,
  s.track_id,
  s.name,
  s.category,
  s.ts_ps + f.shift_ps AS begin_ps,
  s.dur_ps,
  s.depth,
  s.parent_id,
  s.self_ps,
  s.op_self_ps,
  s.step,
  s.op_name,
  s.op_type,
  s.correlation_id,
  s.args_json
FROM slice AS s
INNER JOIN _source_shift AS f ON f.source_id = s.source_id
WHERE s.id = $slice_id
ORDER BY s.id NULLS LAST

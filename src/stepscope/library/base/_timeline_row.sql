-- Slices and sampled stacks on one axis of time
--
-- question: What does a timeline of slices and of stacks show?
-- reads: _timeline_slice, _stack_bar
-- columns:
--   track | int | Track | number of the track; negative for stacks of a thread
--   depth | int | Depth | 0 for what has nothing around it
--   id | int | Slice | number of the slice; negative for a stack
--   ts_ps | ps | Start | start on the axis
--   dur_ps | ps | Duration | duration with what is inside
--   name | text | Name | name of the slice, or the function
--   op_type | text | Op type | type of the op, where known
SELECT s.track, s.depth, s.id, s.ts_ps, s.dur_ps, s.name, s.op_type
FROM _timeline_slice AS s
UNION ALL
SELECT b.track, b.depth, b.id, b.ts_ps, b.dur_ps, b.name, CAST(NULL AS VARCHAR) AS op_type
FROM _stack_bar AS b

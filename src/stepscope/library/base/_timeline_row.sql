-- What does a timeline of slices and of stacks show?
--
-- reads: _timeline_slice, _stack_bar
-- columns:
--   track, depth, id, ts_ps, dur_ps, name
--   op_type | text | type of the op, where known
SELECT s.track, s.depth, s.id, s.ts_ps, s.dur_ps, s.name, s.op_type
FROM _timeline_slice AS s
UNION ALL
SELECT b.track, b.depth, b.id, b.ts_ps, b.dur_ps, b.name, CAST(NULL AS VARCHAR) AS op_type
FROM _stack_bar AS b

-- What is known of a slice?
--
-- reads: slice, _source_shift
-- parameters: slice_id
-- columns:
--   id, run_id, host_id, source_id, track_id, name, category
--   begin_ps | ps | start on the axis of time
--   dur_ps, depth, parent_id, self_ps, op_self_ps, step, op_name, op_type, correlation_id, args_json
SELECT
  columns!(s, id, run_id, host_id, source_id, track_id, name, category),
  s.ts_ps + f.shift_ps AS begin_ps,
  columns!(s, dur_ps, depth, parent_id, self_ps, op_self_ps, step, op_name, op_type, correlation_id, args_json)
FROM slice AS s
INNER JOIN _source_shift AS f ON f.source_id = s.source_id
WHERE s.id = $slice_id
ORDER BY s.id NULLS LAST

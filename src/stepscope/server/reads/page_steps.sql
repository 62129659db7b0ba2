-- When did each step run on the axis of time?
--
-- reads: step, _source_shift
-- columns:
--   id, run_id, host_id, step, name, kind
--   begin_ps | ps | start on the axis
--   dur_ps, averaged
SELECT s.id, s.run_id, s.host_id, s.step, s.name, s.kind, s.ts_ps + f.shift_ps AS begin_ps, s.dur_ps, s.averaged
FROM step AS s
INNER JOIN _source_shift AS f ON f.source_id = s.source_id
ORDER BY nulls_last!(s.run_id, s.host_id, begin_ps, s.id)

-- When was each step that was found?
--
-- reads: step
-- columns:
--   source_id, step
--   ts_ps | ps | start, on the axis of its source
--   dur_ps
SELECT s.source_id, s.step, s.ts_ps, s.dur_ps
FROM step AS s
WHERE s.recovered_from <> 'whole_capture'
ORDER BY nulls_last!(s.source_id, s.ts_ps, s.step, s.dur_ps)

-- Which steps were recorded, in the order of their sources?
--
-- reads: step
-- columns:
--   source_id, name, kind, recovered_from, reason, step, ts_ps, dur_ps, averaged
SELECT s.source_id, s.name, s.kind, s.recovered_from, s.reason, s.step, s.ts_ps, s.dur_ps, s.averaged
FROM step AS s
WHERE s.recovered_from <> 'whole_capture'
ORDER BY nulls_last!(s.source_id, s.ts_ps, s.id)

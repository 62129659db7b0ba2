-- Which steps took time, in the order of their sources and of time?
--
-- reads: step
-- columns:
--   source_id, run_id, host_id, id, ts_ps, dur_ps, averaged, kind, recovered_from
SELECT s.source_id, s.run_id, s.host_id, s.id, s.ts_ps, s.dur_ps, s.averaged, s.kind, s.recovered_from
FROM step AS s
WHERE s.dur_ps > 0
ORDER BY nulls_last!(s.source_id, s.ts_ps, s.dur_ps DESC, s.id)

-- Which slices does a source have within a stretch of time?
--
-- reads: slice
-- parameters: source_id, begin_ps, end_ps
-- columns:
--   track_id
--   begin_ps | ps | start
--   end_ps | ps | end
--   kind_id | int | row of rollup_op that says how it is called; -1 for none
SELECT s.track_id, s.ts_ps AS begin_ps, s.ts_ps + s.dur_ps AS end_ps, COALESCE(s.rollup_id, -1) AS kind_id
FROM slice AS s
WHERE s.source_id = $source_id AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps >= $begin_ps
ORDER BY nulls_last!(s.track_id, s.ts_ps, s.dur_ps DESC, s.id)

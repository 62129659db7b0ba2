-- What threads do
--
-- question: Which slices do some threads have within a stretch of time?
-- reads: slice
-- parameters:
--   tracks | ints | tracks of the threads
--   begin_ps | ps | begin of the stretch
--   end_ps | ps | its end
-- columns:
--   track_id | int | track of the thread
--   begin_ps | ps | start
--   end_ps | ps | end
--   rollup_id | int | row of rollup_op that says how it is called
SELECT s.track_id, s.ts_ps AS begin_ps, s.ts_ps + s.dur_ps AS end_ps, s.rollup_id
FROM slice AS s
WHERE s.track_id IN $tracks AND s.dur_ps > 0 AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps > $begin_ps
ORDER BY nulls_last!(s.track_id, s.ts_ps, s.dur_ps DESC, s.id)

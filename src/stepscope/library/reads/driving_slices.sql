-- Which slices do some threads have within a stretch of time?
--
-- reads: slice, _late_copy
-- parameters: begin_ps, end_ps
--   tracks | ints | tracks of the threads
-- columns:
--   track_id
--   begin_ps | ps | start
--   end_ps | ps | end
--   rollup_id | int | row of rollup_op that says how it is called; -1 for the part of a call of the runtime in which it
--     waits until the device begins its copy
WITH done AS (
  SELECT s.track_id, s.ts_ps AS from_ps, s.ts_ps + s.dur_ps AS until_ps, s.rollup_id, s.id AS number
  FROM slice AS s
  WHERE s.track_id IN $tracks AND s.dur_ps > 0 AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps > $begin_ps
  UNION ALL
  SELECT l.track_id, l.begin_ps, l.end_ps, -1, NULL
  FROM _late_copy AS l
  WHERE l.track_id IN $tracks AND l.begin_ps < $end_ps AND l.end_ps > $begin_ps
)

SELECT d.track_id, d.from_ps AS begin_ps, d.until_ps AS end_ps, d.rollup_id
FROM done AS d
ORDER BY nulls_last!(d.track_id, d.from_ps, d.until_ps DESC, d.number)

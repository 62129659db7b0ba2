-- Which calls of a tf.function on some threads traced it first?
--
-- reads: slice
-- parameters: begin_ps, end_ps
--   tracks | ints | tracks of the threads
-- columns:
--   begin_ps | ps | start
--   end_ps | ps | end
--   rollup_id
SELECT s.ts_ps AS begin_ps, s.ts_ps + s.dur_ps AS end_ps, s.rollup_id
FROM slice AS s
WHERE
  s.track_id IN $tracks
  AND s.dur_ps > 0
  AND s.ts_ps < $end_ps
  AND s.ts_ps + s.dur_ps > $begin_ps
  AND (s.args_json LIKE '%"tf_function_call":"traced%' OR s.args_json LIKE '%"tf_function_call": "traced%')
ORDER BY nulls_last!(s.track_id, s.ts_ps, s.dur_ps DESC, s.id)

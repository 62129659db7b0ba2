-- What a thread does
--
-- question: Which slices does a thread have within a stretch of time?
-- reads: slice
-- parameters:
--   track_id | int | track of the thread
--   begin_ps | ps | begin of the stretch
--   end_ps | ps | its end
-- columns:
--   ts_ps | ps | start
--   end_ps | ps | end
--   name | text | name as found
--   category | text | category as found
--   names_op | bool | true when it names an op or its type
--   traces | bool | true for a call of a tf.function that traced it first
SELECT
  s.ts_ps,
  s.ts_ps + s.dur_ps AS end_ps,
  s.name,
  s.category,
  s.op_name IS NOT NULL OR s.op_type IS NOT NULL AS names_op,
  CASE
    WHEN s.args_json LIKE '%"tf_function_call":"traced%' OR s.args_json LIKE '%"tf_function_call": "traced%' THEN TRUE
    ELSE FALSE
  END AS traces
FROM slice AS s
WHERE s.track_id = $track_id AND s.dur_ps > 0 AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps > $begin_ps
ORDER BY s.ts_ps NULLS LAST, s.dur_ps DESC NULLS LAST, s.id NULLS LAST

-- Steps with a duration
--
-- question: Which steps took time, in the order of their sources and of time?
-- reads: step
-- columns:
--   source_id | int | source it was recovered from
--   run_id, host_id
--   id | int | number of the step
--   ts_ps | ps | start
--   dur_ps | ps | duration
--   averaged | bool | false when averages leave it out
--   kind | text | train, eval, compile, warm_up or unknown
--   recovered_from | text | what told of it
SELECT s.source_id, s.run_id, s.host_id, s.id, s.ts_ps, s.dur_ps, s.averaged, s.kind, s.recovered_from
FROM step AS s
WHERE s.dur_ps > 0
ORDER BY nulls_last!(s.source_id, s.ts_ps, s.dur_ps DESC, s.id)

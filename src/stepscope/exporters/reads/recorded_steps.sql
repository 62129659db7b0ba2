-- Steps that were recorded
--
-- question: Which steps were recorded, in the order of their sources?
-- reads: step
-- columns:
--   source_id | int | source it was recovered from
--   name | text | name of the marker
--   kind | text | train, eval, compile, warm_up or unknown
--   recovered_from | text | what told of it
--   reason | text | why it is of this kind
--   step | int | number of the step
--   ts_ps | ps | start
--   dur_ps | ps | duration
--   averaged | bool | false when averages leave it out
SELECT s.source_id, s.name, s.kind, s.recovered_from, s.reason, s.step, s.ts_ps, s.dur_ps, s.averaged
FROM step AS s
WHERE s.recovered_from <> 'whole_capture'
ORDER BY nulls_last!(s.source_id, s.ts_ps, s.id)

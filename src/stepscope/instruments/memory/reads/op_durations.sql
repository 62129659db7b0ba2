-- How long did each execution take?
--
-- reads: op_run
-- columns:
--   id
--   took_ps | ps | duration of its kernel, or of all of it
SELECT r.id, COALESCE(r.op_end_ps, r.end_ps) - COALESCE(r.op_start_ps, r.start_ps) AS took_ps
FROM op_run AS r
ORDER BY r.id NULLS LAST

-- When do the first and the last event of a pipeline begin?
--
-- reads: _pipeline_slice
-- parameters: source_id
-- columns:
--   first_ps | ps | begin of the first
--   last_ps | ps | begin of the last
SELECT MIN(s.ts_ps) AS first_ps, MAX(s.ts_ps) AS last_ps
FROM _pipeline_slice AS s
WHERE s.source_id = $source_id

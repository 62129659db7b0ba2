-- How long did steps take with and without a profiler?
--
-- reads: counter
-- parameters: source_id
-- columns:
--   series | text | traced_ns or untraced_ns
--   ts_ps
--   value | float | duration in nanoseconds
SELECT c.series, c.ts_ps, c.value
FROM counter AS c
WHERE c.source_id = $source_id AND c.name = 'duration of a step'
ORDER BY nulls_last!(c.ts_ps, c.id)

-- Steps that captures timed
--
-- question: How long did the steps of each host take with and without a profiler?
-- reads: counter
-- columns:
--   run_id | text | run
--   host_id | text | host
--   series | text | traced_ns or untraced_ns
--   value | float | duration in nanoseconds
SELECT c.run_id, c.host_id, c.series, c.value
FROM counter AS c
WHERE c.name = 'duration of a step' AND c.value > 0
ORDER BY c.run_id NULLS LAST, c.host_id NULLS LAST, c.id NULLS LAST

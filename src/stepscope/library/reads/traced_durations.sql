-- Steps of a host that a capture timed
--
-- question: How long did the steps of a host take with and without a profiler?
-- reads: counter
-- parameters:
--   run_id | text | run
--   host_id | text | host
-- columns:
--   series | text | traced_ns or untraced_ns
--   value | float | duration in nanoseconds
SELECT c.series, c.value
FROM counter AS c
WHERE c.run_id = $run_id AND c.host_id = $host_id AND c.name = 'duration of a step' AND c.value > 0
ORDER BY c.id NULLS LAST

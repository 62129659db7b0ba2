-- How long did the steps of each host, and the calls that mark them, take with and without a profiler?
--
-- reads: counter
-- columns:
--   run_id, host_id
--   of_call | bool | it is the call within the step
--   series | text | traced_ns or untraced_ns
--   value | float | duration in nanoseconds
SELECT c.run_id, c.host_id, c.name = 'duration of the call in a step' AS of_call, c.series, c.value
FROM counter AS c
WHERE c.name IN ('duration of a step', 'duration of the call in a step') AND c.value > 0
ORDER BY nulls_last!(c.run_id, c.host_id, c.id)

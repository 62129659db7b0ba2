-- How long did the steps of each host, and the calls that mark them, take with and without a profiler?
--
-- reads: counter
-- columns:
--   run_id, host_id
--   of_call | bool | it is the call within the step
--   series | text | traced_ns or untraced_ns
--   value | float | duration in nanoseconds
--   early | bool | it is before the first that was recorded, when programs warm up
WITH timed AS (
  SELECT
    columns!(c, id, run_id, host_id, series, ts_ps, value),
    c.name = 'duration of the call in a step' AS of_call,
    MIN(CASE WHEN c.series = 'traced_ns' THEN c.ts_ps END) OVER (PARTITION BY c.run_id, c.host_id) AS recorded_ps
  FROM counter AS c
  WHERE c.name IN ('duration of a step', 'duration of the call in a step') AND c.value > 0
)

SELECT t.run_id, t.host_id, t.of_call, t.series, t.value, COALESCE(t.ts_ps < t.recorded_ps, FALSE) AS early
FROM timed AS t
ORDER BY nulls_last!(t.run_id, t.host_id, t.id)

-- How long did the steps of a host take that came after those which a profiler recorded?
--
-- reads: counter
-- parameters: run_id, host_id
-- columns:
--   value | float | duration in nanoseconds
SELECT c.value
FROM counter AS c
WHERE
  c.run_id = $run_id
  AND c.host_id = $host_id
  AND c.name = 'duration of a step'
  AND c.series = 'untraced_ns'
  AND c.value > 0
  AND c.ts_ps > (
    SELECT MAX(t.ts_ps) AS last_ps
    FROM counter AS t
    WHERE
      t.run_id = $run_id
      AND t.host_id = $host_id
      AND t.name = 'duration of a step'
      AND t.series = 'traced_ns'
  )
ORDER BY c.ts_ps NULLS LAST, c.id NULLS LAST

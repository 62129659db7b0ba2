-- Launches against execution
--
-- question: How long after its launch does work begin on the device, and how long does each take?
-- reads: slice, track_place
-- notes: A launch and what it launched share a correlation id within a source. lag runs from the start of
--   the launch to the start of the work; it is long when the device has a queue to work off, short when the
--   device waits for launches. A launch of several works counts once for each.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=launch y=work_ps
-- columns:
--   run_id, host_id
--   launch | text | Launch | name of the launching slice
--   launches | int | Count | pairs of launch and work
--   launch_ps | ps | Launching | durations of the launches, added up
--   work_ps | ps | Executing | durations of what they launched, added up
--   mean_lag_ps | ps | Mean lag | mean time from launch to start
--   max_lag_ps | ps | Longest lag | longest time from launch to start
WITH placed AS (
  SELECT s.id, s.run_id, s.host_id, s.source_id, s.correlation_id, s.name, s.ts_ps, s.dur_ps, p.place
  FROM slice AS s
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE s.correlation_id IS NOT NULL AND p.place <> 'none'
),

pairs AS (
  SELECT
    columns!(a, run_id, host_id),
    a.name AS launch,
    a.dur_ps AS launch_dur_ps,
    b.dur_ps AS work_dur_ps,
    b.ts_ps - a.ts_ps AS lag_ps
  FROM placed AS a
  INNER JOIN placed AS b ON b.source_id = a.source_id AND b.correlation_id = a.correlation_id
  WHERE a.place <> 'device' AND b.place = 'device'
)

SELECT
  columns!(p, run_id, host_id, launch),
  COUNT(*) AS launches,
  sum!(p.launch_dur_ps) AS launch_ps,
  sum!(p.work_dur_ps) AS work_ps,
  mean!(SUM(p.lag_ps), COUNT(*)) AS mean_lag_ps,
  MAX(p.lag_ps) AS max_lag_ps
FROM pairs AS p
GROUP BY p.run_id, p.host_id, p.launch
ORDER BY nulls_last!(work_ps DESC, p.run_id, p.host_id, p.launch)

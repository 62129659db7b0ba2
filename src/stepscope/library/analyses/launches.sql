-- Launches against execution
--
-- question: How long after its launch does work begin on the device, and how long does each take?
-- reads: slice, track_place
-- notes: A launch and what it launched share a correlation id within a source. lag runs from the start of
--   the launch to the start of its first work; it is long when the device has a queue to work off, short when the
--   device waits for launches. A launch may be of several works, as that of a graph of kernels is, and counts once.
--   Without rows, the recording has no such numbers, as rocprof's tables and timelines drawn by programs have none.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=launch y=work_ps
-- columns:
--   run_id, host_id
--   launch | text | Launch | name of the launching slice
--   launches | int | Count | those whose work is recorded
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

works AS (
  SELECT
    b.source_id AS of_source,
    b.correlation_id AS by_call,
    SUM(b.dur_ps) AS work_dur_ps,
    MIN(b.ts_ps) AS first_ps
  FROM placed AS b
  WHERE b.place = 'device'
  GROUP BY b.source_id, b.correlation_id
),

followed AS (
  SELECT
    columns!(a, run_id, host_id),
    a.name AS launch,
    a.dur_ps AS launch_dur_ps,
    w.work_dur_ps,
    w.first_ps - a.ts_ps AS lag_ps
  FROM placed AS a
  INNER JOIN works AS w ON w.of_source = a.source_id AND w.by_call = a.correlation_id
  WHERE a.place <> 'device'
)

SELECT
  columns!(f, run_id, host_id, launch),
  COUNT(*) AS launches,
  sum!(f.launch_dur_ps) AS launch_ps,
  sum!(f.work_dur_ps) AS work_ps,
  mean!(SUM(f.lag_ps), COUNT(*)) AS mean_lag_ps,
  MAX(f.lag_ps) AS max_lag_ps
FROM followed AS f
GROUP BY f.run_id, f.host_id, f.launch
ORDER BY nulls_last!(work_ps DESC, f.run_id, f.host_id, f.launch)

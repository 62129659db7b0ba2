-- Work and idle time of devices, added up
--
-- question: How long was each device busy and idle within the window, and in how many pieces?
-- reads: device_load, step_window, track_place
-- notes: Gaps at the edges of the window count. A short gap lasts less than 100 µs.
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   place | text | Place | device or host
--   device | text | Device | name of the device
--   device_kind | text | Device kind | cpu, gpu, tpu or unknown
--   window_ps | ps | Window | length of the window
--   sum_busy_ps | ps | Busy | union of its work
--   sum_idle_ps | ps | Idle | the rest of the window
--   sum_work_ps | ps | Work | durations of its work, added up
--   work_slices | int | Slices | slices of work
--   idle_gaps | int | Gaps | stretches without work
--   most_idle_ps | ps | Longest gap | the longest of them
--   short_gaps | int | Short gaps | short ones between two works
--   short_idle_ps | ps | In short gaps | idle time in these
WITH loads AS (
  SELECT
    d.device_track_id,
    SUM(d.busy_ps) AS busy_total,
    SUM(d.to_ps - d.from_ps) AS work_total,
    COUNT(*) AS number,
    SUM(CASE WHEN d.gap_ps > 0 THEN 1 ELSE 0 END) AS gap_count,
    COALESCE(MAX(d.gap_ps), 0) AS most_gap_ps,
    SUM(CASE WHEN d.gap_ps > 0 AND d.gap_ps < 100000000 THEN 1 ELSE 0 END) AS short_count,
    SUM(CASE WHEN d.gap_ps > 0 AND d.gap_ps < 100000000 THEN d.gap_ps ELSE 0 END) AS short_total,
    MIN(d.from_ps) AS first_ps,
    MAX(d.to_ps) AS last_ps
  FROM device_load AS d
  GROUP BY d.device_track_id
),

edged AS (
  SELECT
    p.run_id,
    p.host_id,
    p.source_id,
    p.place,
    p.device,
    p.device_kind,
    l.busy_total,
    l.work_total,
    l.number,
    l.gap_count,
    l.short_count,
    l.short_total,
    w.close_ps - w.open_ps AS whole_ps,
    l.first_ps - w.open_ps AS before_ps,
    w.close_ps - l.last_ps AS after_ps,
    CASE WHEN l.first_ps - w.open_ps > l.most_gap_ps THEN l.first_ps - w.open_ps ELSE l.most_gap_ps END AS longest_ps
  FROM loads AS l
  INNER JOIN track_place AS p ON p.track_id = l.device_track_id
  INNER JOIN step_window AS w ON w.source_id = p.source_id
)

SELECT
  e.run_id,
  e.host_id,
  e.source_id,
  e.place,
  e.device,
  e.device_kind,
  e.whole_ps AS window_ps,
  CAST(e.busy_total AS BIGINT) AS sum_busy_ps,
  CAST(e.whole_ps - e.busy_total AS BIGINT) AS sum_idle_ps,
  CAST(e.work_total AS BIGINT) AS sum_work_ps,
  e.number AS work_slices,
  CAST(
    e.gap_count + CASE WHEN e.before_ps > 0 THEN 1 ELSE 0 END + CASE WHEN e.after_ps > 0 THEN 1 ELSE 0 END AS BIGINT
  ) AS idle_gaps,
  CASE WHEN e.after_ps > e.longest_ps THEN e.after_ps ELSE e.longest_ps END AS most_idle_ps,
  CAST(e.short_count AS BIGINT) AS short_gaps,
  CAST(e.short_total AS BIGINT) AS short_idle_ps
FROM edged AS e

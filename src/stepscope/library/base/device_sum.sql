-- Work and idle time of devices, added up
--
-- question: How long was each device busy and idle within the window, and in how many pieces?
-- reads: rollup_device, rollup_op, observed, step, track_place
-- notes: Gaps at the edges of the window count; time that was never recorded does not (see
--   observed). A short gap lasts less than 100 µs. Executions count over the whole recording, so that a
--   device that only worked outside of the window is not forgotten.
-- columns:
--   run_id, host_id, source_id
--   place | text | Place | device or host
--   device | text | Device | name of the device
--   device_kind | text | Device kind | cpu, gpu, tpu or unknown
--   apart | bool | Apart | true where each step is a recording of its own
--   window_ps | ps | Window | length of the window, as recorded
--   sum_busy_ps | ps | Busy | union of its work
--   sum_idle_ps | ps | Idle | the rest of the window
--   sum_work_ps | ps | Work | durations of its work, added up
--   work_slices | int | Slices | slices of work
--   idle_gaps | int | Gaps | stretches without work
--   most_idle_ps | ps | Longest gap | the longest of them
--   short_gaps | int | Short gaps | short ones between two works
--   short_idle_ps | ps | In short gaps | idle time in these
--   executions | int | Executions | works over the whole recording: kernels, copies, sets, ops; no waits or marks
--   sum_executions_ps | ps | Executed | their durations, added up; of ops, which nest, their self times
WITH loads AS (
  SELECT
    columns!(r, device_track_id, piece_id),
    r.busy_ps AS busy_total,
    r.work_ps AS work_total,
    r.slices AS number,
    r.gaps AS gap_count,
    r.most_gap_ps,
    r.short_gaps AS short_count,
    r.short_gaps_ps AS short_total,
    columns!(r, first_ps, last_ps)
  FROM rollup_device AS r
  INNER JOIN observed AS o ON o.piece_id = r.piece_id
  WHERE r.track_id IS NULL
),

devices AS (
  SELECT
    p.device_track_id,
    SUM(r.slices) AS number,
    SUM(CASE WHEN p.place = 'device' THEN r.total_ps ELSE r.op_self_ps END) AS executed_ps
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.is_op AND r.class NOT IN ('input', 'wait') AND p.place IN ('device', 'host')
  GROUP BY p.device_track_id
),

sources AS (
  SELECT
    s.source_id,
    MAX(CASE WHEN s.recovered_from = 'file' THEN 1 ELSE 0 END) AS step_apart
  FROM step AS s
  GROUP BY s.source_id
),

edged AS (
  SELECT
    d.device_track_id,
    s.step_apart,
    COALESCE(o.close_ps - o.open_ps, 0) AS length_ps,
    COALESCE(l.busy_total, 0) AS busy_part,
    COALESCE(l.work_total, 0) AS work_part,
    COALESCE(l.number, 0) AS slice_part,
    COALESCE(l.gap_count, 0) AS gap_part,
    COALESCE(l.most_gap_ps, 0) AS gap_part_ps,
    COALESCE(l.short_count, 0) AS short_part,
    COALESCE(l.short_total, 0) AS short_part_ps,
    COALESCE(COALESCE(l.first_ps, o.close_ps) - o.open_ps, 0) AS before_ps,
    COALESCE(o.close_ps - COALESCE(l.last_ps, o.close_ps), 0) AS after_ps
  FROM devices AS d
  INNER JOIN track_place AS p ON p.track_id = d.device_track_id
  INNER JOIN sources AS s ON s.source_id = p.source_id
  LEFT JOIN observed AS o ON o.source_id = p.source_id
  LEFT JOIN loads AS l ON l.device_track_id = d.device_track_id AND l.piece_id = o.piece_id
),

whole AS (
  SELECT
    e.device_track_id,
    MAX(e.step_apart) AS any_apart,
    SUM(e.length_ps) AS whole_ps,
    SUM(e.busy_part) AS busy_total,
    SUM(e.work_part) AS work_total,
    SUM(e.slice_part) AS number,
    SUM(
      e.gap_part + CASE WHEN e.before_ps > 0 THEN 1 ELSE 0 END + CASE WHEN e.after_ps > 0 THEN 1 ELSE 0 END
    ) AS gap_count,
    MAX(e.gap_part_ps) AS most_gap_ps,
    MAX(greatest!(e.after_ps, e.before_ps)) AS most_edge_ps,
    SUM(e.short_part) AS short_count,
    SUM(e.short_part_ps) AS short_total
  FROM edged AS e
  GROUP BY e.device_track_id
)

SELECT
  columns!(p, run_id, host_id, source_id, place, device, device_kind),
  w.any_apart = 1 AS apart,
  CAST(w.whole_ps AS BIGINT) AS window_ps,
  CAST(w.busy_total AS BIGINT) AS sum_busy_ps,
  CAST(w.whole_ps - w.busy_total AS BIGINT) AS sum_idle_ps,
  CAST(w.work_total AS BIGINT) AS sum_work_ps,
  CAST(w.number AS BIGINT) AS work_slices,
  CAST(w.gap_count AS BIGINT) AS idle_gaps,
  greatest!(w.most_edge_ps, w.most_gap_ps) AS most_idle_ps,
  CAST(w.short_count AS BIGINT) AS short_gaps,
  CAST(w.short_total AS BIGINT) AS short_idle_ps,
  CAST(d.number AS BIGINT) AS executions,
  CAST(d.executed_ps AS BIGINT) AS sum_executions_ps
FROM whole AS w
INNER JOIN devices AS d ON d.device_track_id = w.device_track_id
INNER JOIN track_place AS p ON p.track_id = w.device_track_id

-- For how long did each device of a source execute, and from when to when?
--
-- reads: rollup_op, track_place, slice
-- parameters:
--   source_id | int | number of the source
-- columns:
--   device_track_id
--   busy_ps | ps | union of what it executed
--   first_ps | ps | when the first began
--   last_ps | ps | when the last ended
WITH executing AS (
  SELECT r.id, p.device_track_id
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.source_id = $source_id AND p.place = 'device' AND r.is_op AND r.class IN ('compute', 'communication')
),

work AS (
  SELECT e.device_track_id, s.id, s.ts_ps, s.ts_ps + s.dur_ps AS end_ps
  FROM slice AS s
  INNER JOIN executing AS e ON e.id = s.rollup_id
  WHERE s.dur_ps > 0
),

ordered AS (
  SELECT
    columns!(w, device_track_id, ts_ps, end_ps),
    covered!(w.end_ps, w.ts_ps, w.id, w.device_track_id) AS before_ps
  FROM work AS w
)

SELECT
  o.device_track_id,
  sum!(uncovered!(o.before_ps, o.ts_ps, o.end_ps)) AS busy_ps,
  MIN(o.ts_ps) AS first_ps,
  MAX(o.end_ps) AS last_ps
FROM ordered AS o
GROUP BY o.device_track_id
ORDER BY o.device_track_id NULLS LAST

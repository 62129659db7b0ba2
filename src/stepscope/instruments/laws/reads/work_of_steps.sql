-- For how long did each device of a source do what the steps of its host launched?
--
-- reads: rollup_op, track_place, slice, step
-- notes: Of steps that the host shows, and work that names the call it was launched by.
-- parameters:
--   source_id | int | number of the source
-- columns:
--   device_track_id
--   busy_ps | ps | union of that work
--   steps_ps | ps | from the begin of the first step to the end of the last
WITH shown AS (
  SELECT MIN(s.ts_ps) AS first_ps, MAX(s.ts_ps + s.dur_ps) AS last_ps
  FROM step AS s
  WHERE s.source_id = $source_id AND s.recovered_from NOT IN ('whole_capture', 'device', 'file')
),

calls AS (
  SELECT s.correlation_id, MIN(s.ts_ps) AS called_ps
  FROM slice AS s
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE s.source_id = $source_id AND p.place IN ('host', 'launch') AND s.correlation_id IS NOT NULL
  GROUP BY s.correlation_id
),

work AS (
  SELECT columns!(s, id, ts_ps), s.ts_ps + s.dur_ps AS end_ps, p.device_track_id, h.last_ps - h.first_ps AS shown_ps
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  INNER JOIN calls AS c ON c.correlation_id = s.correlation_id
  CROSS JOIN shown AS h
  WHERE
    s.source_id = $source_id AND p.place = 'device' AND r.is_op AND r.class IN ('compute', 'communication')
    AND c.called_ps >= h.first_ps AND c.called_ps < h.last_ps AND s.dur_ps > 0
),

ordered AS (
  SELECT
    columns!(w, device_track_id, ts_ps, end_ps, shown_ps),
    covered!(w.end_ps, w.ts_ps, w.id, w.device_track_id) AS before_ps
  FROM work AS w
)

SELECT
  o.device_track_id,
  sum!(uncovered!(o.before_ps, o.ts_ps, o.end_ps)) AS busy_ps,
  MAX(o.shown_ps) AS steps_ps
FROM ordered AS o
GROUP BY o.device_track_id
ORDER BY o.device_track_id NULLS LAST

-- How much of what the devices of each source did came after the last of its steps?
--
-- reads: rollup_op, track_place, slice, step
-- notes: Of steps that the host shows. Where nothing shows steps, the whole capture is one.
-- columns:
--   source_id, run_id, host_id
--   work_ps | ps | durations of what devices executed since the first step began, added up
--   after_ps | ps | of that, what began after the last step was over
WITH shown AS (
  SELECT s.source_id AS of_source, MIN(s.ts_ps) AS first_ps, MAX(s.ts_ps + s.dur_ps) AS last_ps
  FROM step AS s
  WHERE s.recovered_from NOT IN ('whole_capture', 'device', 'file')
  GROUP BY s.source_id
),

executing AS (
  SELECT r.id, h.first_ps, h.last_ps
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  INNER JOIN shown AS h ON h.of_source = r.source_id
  WHERE p.place = 'device' AND r.is_op AND r.class IN ('compute', 'communication')
)

SELECT
  columns!(s, source_id, run_id, host_id),
  sum!(s.dur_ps) AS work_ps,
  CAST(sum_where!(s.ts_ps >= e.last_ps, s.dur_ps) AS BIGINT) AS after_ps
FROM slice AS s
INNER JOIN executing AS e ON e.id = s.rollup_id
WHERE s.ts_ps >= e.first_ps AND s.dur_ps > 0
GROUP BY s.source_id, s.run_id, s.host_id
ORDER BY s.source_id NULLS LAST

-- How long does the first call of each recording take that sets up a device, where no work of a device is before it?
--
-- reads: rollup_op, slice, track_place, _evidence_label
-- parameters: run_id, host_id
-- columns:
--   dur_ps | ps | its duration
WITH calls AS (
  SELECT
    s.source_id,
    s.ts_ps,
    s.dur_ps,
    ROW_NUMBER() OVER (PARTITION BY s.source_id ORDER BY nulls_last!(s.ts_ps, s.id)) AS call_number
  FROM _evidence_label AS l
  INNER JOIN rollup_op AS r ON r.id = l.rollup_id
  INNER JOIN slice AS s ON s.rollup_id = r.id
  WHERE l.layer = 'setups' AND r.run_id = $run_id AND r.host_id = $host_id
),

work AS (
  SELECT s.source_id AS of_source, MIN(s.ts_ps) AS begin_ps
  FROM slice AS s
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE p.place = 'device' AND s.run_id = $run_id AND s.host_id = $host_id
  GROUP BY s.source_id
)

SELECT c.dur_ps
FROM calls AS c
LEFT JOIN work AS w ON w.of_source = c.source_id
WHERE c.call_number = 1 AND (w.begin_ps IS NULL OR c.ts_ps < w.begin_ps)
ORDER BY nulls_last!(c.source_id, c.dur_ps)

-- How long does the first call take that sets up a device of a host, where no work of a device comes before it?
--
-- reads: rollup_op, slice, track_place, _evidence_label
-- parameters: run_id, host_id
-- columns:
--   dur_ps | ps | its duration
WITH calls AS (
  SELECT s.id, s.ts_ps, s.dur_ps
  FROM _evidence_label AS l
  INNER JOIN rollup_op AS r ON r.id = l.rollup_id
  INNER JOIN slice AS s ON s.rollup_id = r.id
  WHERE l.layer = 'setups' AND r.run_id = $run_id AND r.host_id = $host_id
),

work AS (
  SELECT MIN(s.ts_ps) AS begin_ps
  FROM slice AS s
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE p.place = 'device' AND s.run_id = $run_id AND s.host_id = $host_id
)

SELECT c.dur_ps
FROM calls AS c
CROSS JOIN work AS w
WHERE w.begin_ps IS NULL OR c.ts_ps < w.begin_ps
ORDER BY nulls_last!(c.ts_ps, c.id)
LIMIT 1

-- Launches without work
--
-- question: How many kernels did each source launch, and of how many is nothing recorded on a device?
-- reads: rollup_op, slice, track_place
-- notes: Launches that a stream captures into a graph run nothing by themselves, so those between the first begin and
--   the last end of a capture are left out. A graph of kernels is launched as a whole and tells no number of them.
--   Sources whose work on devices names no call say nothing of single launches.
-- columns:
--   source_id | int | number of the source
--   run_id | text | run of the source
--   host_id | text | host of the source
--   launches | int | calls that launch one kernel each
--   kernels | int | those whose kernel was recorded
WITH calls AS (
  SELECT
    r.id,
    r.source_id,
    CASE
      WHEN r.name LIKE '%StreamBeginCapture%' THEN 'begin'
      WHEN r.name LIKE '%StreamEndCapture%' THEN 'end'
      ELSE 'launch'
    END AS does
  FROM rollup_op AS r
  WHERE
    r.name LIKE 'cu%Launch%Kernel%' OR r.name LIKE 'hip%Launch%Kernel%' OR r.name LIKE '%StreamBeginCapture%'
    OR r.name LIKE '%StreamEndCapture%'
),

made AS (
  SELECT c.source_id AS of_source, c.does, s.run_id, s.host_id, s.ts_ps, s.ts_ps + s.dur_ps AS end_ps, s.correlation_id
  FROM slice AS s
  INNER JOIN calls AS c ON c.id = s.rollup_id
),

captured AS (
  SELECT
    m.of_source AS in_source,
    MIN(CASE WHEN m.does = 'begin' THEN m.ts_ps END) AS first_ps,
    MAX(CASE WHEN m.does = 'end' THEN m.end_ps END) AS last_ps
  FROM made AS m
  WHERE m.does IN ('begin', 'end')
  GROUP BY m.of_source
),

worked AS (
  SELECT s.source_id AS on_source, s.correlation_id AS by_call
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id AND r.is_op
  INNER JOIN track_place AS p ON p.track_id = r.track_id AND p.place = 'device'
  WHERE s.correlation_id IS NOT NULL
  GROUP BY s.source_id, s.correlation_id
)

SELECT
  m.of_source AS source_id,
  m.run_id,
  m.host_id,
  CAST(COUNT(*) AS BIGINT) AS launches,
  CAST(COUNT(w.by_call) AS BIGINT) AS kernels
FROM made AS m
LEFT JOIN captured AS c ON c.in_source = m.of_source
LEFT JOIN worked AS w ON w.on_source = m.of_source AND w.by_call = m.correlation_id
WHERE
  m.does = 'launch' AND m.correlation_id IS NOT NULL
  AND (c.first_ps IS NULL OR m.ts_ps < c.first_ps OR m.ts_ps > c.last_ps)
GROUP BY m.of_source, m.run_id, m.host_id
ORDER BY m.of_source NULLS LAST

-- How many kernels did each source launch, and of how many is nothing recorded on a device?
--
-- reads: rollup_op, slice, track_place
-- notes: A range that a program named after a call is none. Launches that a stream captures into a graph run nothing
--   by themselves, so those between the first begin and the last end of a capture are left out. A graph of kernels is
--   launched as a whole and tells no number of them. Sources whose work on devices names no call say nothing of single
--   launches. A recording may end while a device is behind: launches after the last one of their thread whose kernel is
--   there are left out, unless the device's own rows had ended by then.
-- columns:
--   source_id | int | source it was read from
--   run_id, host_id
--   launches | int | calls that launch one kernel each
--   kernels | int | those whose kernel was recorded
--   beside_work | int | those of sources that recorded work of a device which calls launched
WITH calls AS (
  SELECT
    columns!(r, id, source_id),
    CASE
      WHEN r.name LIKE '%StreamBeginCapture%' THEN 'begin'
      WHEN r.name LIKE '%StreamEndCapture%' THEN 'end'
      ELSE 'launch'
    END AS does
  FROM rollup_op AS r
  WHERE
    (r.category IS NULL OR r.category <> 'user_annotation')
    AND (
      kernel_launch!(r.name)
      OR r.name LIKE '%StreamBeginCapture%' OR r.name LIKE '%StreamEndCapture%'
    )
),

made AS (
  SELECT
    c.source_id AS of_source,
    c.does,
    columns!(s, run_id, host_id),
    s.track_id AS on_track,
    s.ts_ps,
    s.ts_ps + s.dur_ps AS end_ps,
    s.correlation_id
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
  SELECT s.source_id AS on_source, s.correlation_id AS by_call, MAX(s.ts_ps + s.dur_ps) AS done_ps
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id AND r.is_op
  INNER JOIN track_place AS p ON p.track_id = r.track_id AND p.place = 'device'
  WHERE s.correlation_id IS NOT NULL
  GROUP BY s.source_id, s.correlation_id
),

ended AS (
  SELECT w.on_source AS ended_source, MAX(w.done_ps) AS last_done_ps
  FROM worked AS w
  GROUP BY w.on_source
),

followed AS (
  SELECT m.of_source AS followed_source, m.on_track AS followed_track, MAX(m.ts_ps) AS last_launch_ps
  FROM made AS m
  INNER JOIN worked AS w ON w.on_source = m.of_source AND w.by_call = m.correlation_id
  WHERE m.does = 'launch'
  GROUP BY m.of_source, m.on_track
)

SELECT
  m.of_source AS source_id,
  columns!(m, run_id, host_id),
  CAST(COUNT(*) AS BIGINT) AS launches,
  CAST(COUNT(w.by_call) AS BIGINT) AS kernels,
  CAST(COUNT(e.ended_source) AS BIGINT) AS beside_work
FROM made AS m
LEFT JOIN captured AS c ON c.in_source = m.of_source
LEFT JOIN worked AS w ON w.on_source = m.of_source AND w.by_call = m.correlation_id
LEFT JOIN ended AS e ON e.ended_source = m.of_source
LEFT JOIN followed AS f ON f.followed_source = m.of_source AND f.followed_track = m.on_track
WHERE
  m.does = 'launch' AND m.correlation_id IS NOT NULL
  AND (e.last_done_ps IS NULL OR m.ts_ps <= f.last_launch_ps OR m.ts_ps >= e.last_done_ps)
  AND (c.first_ps IS NULL OR m.ts_ps < c.first_ps OR m.ts_ps > c.last_ps)
GROUP BY m.of_source, m.run_id, m.host_id
ORDER BY m.of_source NULLS LAST

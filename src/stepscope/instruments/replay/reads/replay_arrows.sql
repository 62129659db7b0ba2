-- Which moments of a source come after others, because work was launched or handed over?
--
-- reads: flow, slice, track_place
-- notes: A launch and what it launched are linked by arrows or by a number; some recordings have both.
-- parameters: source_id, begin_ps, end_ps
-- columns:
--   from_track | int | track of the earlier moment
--   from_ps | ps | when it is
--   to_track | int | track of the later moment
--   to_ps | ps | when it is
--   what | int | 0: a launch on a device, 1: handed from thread to thread
WITH launches AS (
  SELECT s.correlation_id, s.track_id, s.ts_ps
  FROM slice AS s
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE s.source_id = $source_id AND s.correlation_id IS NOT NULL AND p.place IN ('host', 'launch')
),

launched AS (
  SELECT s.correlation_id, s.track_id, s.ts_ps
  FROM slice AS s
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE
    s.source_id = $source_id AND s.correlation_id IS NOT NULL AND p.place = 'device'
    AND s.ts_ps >= $begin_ps AND s.ts_ps < $end_ps
),

told AS (
  SELECT b.track_id AS from_track, b.ts_ps AS from_ps, e.track_id AS to_track, e.ts_ps AS to_ps
  FROM flow AS b
  INNER JOIN flow AS e ON e.flow_id = b.flow_id AND e.source_id = b.source_id
  WHERE
    b.source_id = $source_id AND b.phase = 'start' AND e.phase <> 'start'
    AND b.ts_ps >= $begin_ps AND e.ts_ps < $end_ps
  UNION
  SELECT b.track_id AS from_track, b.ts_ps AS from_ps, e.track_id AS to_track, e.ts_ps AS to_ps
  FROM launches AS b
  INNER JOIN launched AS e ON e.correlation_id = b.correlation_id
  WHERE b.ts_ps >= $begin_ps AND b.ts_ps < $end_ps
)

SELECT
  columns!(t, from_track, from_ps, to_track, to_ps),
  CAST(CASE WHEN p.place = 'device' THEN 0 ELSE 1 END AS BIGINT) AS what
FROM told AS t
INNER JOIN track_place AS p ON p.track_id = t.to_track
ORDER BY nulls_last!(t.to_track, t.to_ps, t.from_track, t.from_ps)

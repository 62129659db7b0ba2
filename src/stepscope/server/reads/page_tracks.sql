-- Which rows does the timeline have, what are they, and how much is on them?
--
-- reads: track, track_place, slice
-- columns:
--   id, run_id, host_id, source_id, process, name, kind, records, place, device, device_kind
--   depths | int | rows of slices on top of one another
--   slices | int | slices on it
--   sort_index
WITH loads AS (
  SELECT s.track_id, MAX(s.depth) + 1 AS deepest, COUNT(*) AS number
  FROM slice AS s
  GROUP BY s.track_id
)

SELECT
  columns!(t, id, run_id, host_id, source_id, process, name, kind, records),
  columns!(p, place, device, device_kind),
  COALESCE(l.deepest, 0) AS depths,
  COALESCE(l.number, 0) AS slices,
  t.sort_index
FROM track AS t
INNER JOIN track_place AS p ON p.track_id = t.id
LEFT JOIN loads AS l ON l.track_id = t.id
ORDER BY nulls_last!(t.run_id, t.host_id, t.source_id, t.process, t.sort_index, t.name, t.id)

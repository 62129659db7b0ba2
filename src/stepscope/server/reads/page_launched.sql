-- Which slices of the same source share the number that links a launch with what it launched?
--
-- reads: slice
-- parameters: slice_id
--   most | int | slices to list
-- columns:
--   other_id | int | the other slice
--   other_name | text | its name
--   direction | text | to: the other slice comes later; from: it comes before
WITH here AS (
  SELECT s.id AS here_id, s.source_id, s.correlation_id, s.ts_ps AS here_ps
  FROM slice AS s
  WHERE s.id = $slice_id AND s.correlation_id IS NOT NULL
)

SELECT
  s.id AS other_id,
  s.name AS other_name,
  CASE WHEN s.ts_ps >= h.here_ps THEN 'to' ELSE 'from' END AS direction
FROM slice AS s
INNER JOIN here AS h ON h.source_id = s.source_id AND h.correlation_id = s.correlation_id
WHERE s.id <> $slice_id
ORDER BY nulls_last!(direction, other_id)
LIMIT $most

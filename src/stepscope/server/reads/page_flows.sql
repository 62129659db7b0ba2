-- Which slices do arrows connect with a slice?
--
-- reads: flow, slice
-- parameters: slice_id
--   most | int | arrows to list
-- columns:
--   other_id | int | the other slice
--   other_name | text | its name
--   arrow | text | name of the arrow
--   direction | text | to: the other slice comes later; from: it comes before
WITH here AS (
  SELECT f.flow_id, f.ts_ps AS here_ps, f.id AS here_id
  FROM flow AS f
  WHERE f.slice_id = $slice_id
),

pairs AS (
  SELECT
    o.slice_id,
    o.name AS arrow,
    CASE WHEN o.ts_ps > h.here_ps OR (o.ts_ps = h.here_ps AND o.id > h.here_id) THEN 'to' ELSE 'from' END AS direction
  FROM here AS h
  INNER JOIN flow AS o ON o.flow_id = h.flow_id
  WHERE o.slice_id <> $slice_id
),

single AS (
  SELECT p.slice_id, p.arrow, p.direction, COUNT(*) AS stations
  FROM pairs AS p
  GROUP BY p.slice_id, p.arrow, p.direction
)

SELECT g.slice_id AS other_id, s.name AS other_name, g.arrow, g.direction
FROM single AS g
INNER JOIN slice AS s ON s.id = g.slice_id
ORDER BY nulls_last!(g.direction, other_id, g.arrow)
LIMIT $most

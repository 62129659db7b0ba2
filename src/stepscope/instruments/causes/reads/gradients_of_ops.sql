-- How long did each gradient take, and when did which op run that it is the gradient of?
--
-- reads: flow, slice
-- notes: PyTorch draws an arrow from each op to its gradient.
-- parameters:
--   sources | ints | sources that have the steps
-- columns:
--   source_id
--   made_by | text | name of the op
--   made_ps | ps | begin of the op
--   made_to_ps | ps | end of the op
--   took_ps | ps | duration of its gradient
WITH gradients AS (
  SELECT e.source_id, e.slice_id, MIN(e.flow_id) AS arrow
  FROM flow AS e
  WHERE e.source_id IN $sources AND e.phase = 'end' AND e.category = 'fwdbwd' AND e.slice_id IS NOT NULL
  GROUP BY e.source_id, e.slice_id
)

SELECT
  g.source_id,
  m.name AS made_by,
  f.ts_ps AS made_ps,
  COALESCE(m.ts_ps + m.dur_ps, f.ts_ps) AS made_to_ps,
  COALESCE(s.dur_ps, 0) AS took_ps
FROM gradients AS g
INNER JOIN flow AS f ON f.source_id = g.source_id AND f.flow_id = g.arrow AND f.phase = 'start'
INNER JOIN slice AS s ON s.source_id = g.source_id AND s.id = g.slice_id
LEFT JOIN slice AS m ON m.source_id = g.source_id AND m.id = f.slice_id
ORDER BY nulls_last!(g.source_id, made_ps, g.slice_id)

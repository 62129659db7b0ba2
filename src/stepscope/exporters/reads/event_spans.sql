-- When do the first event of each source begin and the last one end?
--
-- reads: slice, instant, counter, flow
-- columns:
--   source_id
--   start_ps | ps | first moment
--   end_ps | ps | last moment
WITH parts AS (
  SELECT s.source_id, MIN(s.ts_ps) AS first_ps, MAX(s.ts_ps + s.dur_ps) AS last_ps
  FROM slice AS s
  GROUP BY s.source_id
  UNION ALL
  SELECT i.source_id, MIN(i.ts_ps) AS first_ps, MAX(i.ts_ps) AS last_ps
  FROM instant AS i
  GROUP BY i.source_id
  UNION ALL
  SELECT c.source_id, MIN(c.ts_ps) AS first_ps, MAX(c.ts_ps) AS last_ps
  FROM counter AS c
  GROUP BY c.source_id
  UNION ALL
  SELECT f.source_id, MIN(f.ts_ps) AS first_ps, MAX(f.ts_ps) AS last_ps
  FROM flow AS f
  GROUP BY f.source_id
)

SELECT p.source_id, MIN(p.first_ps) AS start_ps, MAX(p.last_ps) AS end_ps
FROM parts AS p
GROUP BY p.source_id
ORDER BY p.source_id NULLS LAST

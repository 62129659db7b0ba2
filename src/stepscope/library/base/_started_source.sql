-- Which files hold a single run that compiled or warmed up, while averages include runs in other files?
--
-- reads: step
-- columns:
--   started_source | int | the file
WITH files AS (
  SELECT
    columns!(s, run_id, host_id, source_id),
    MAX(CASE WHEN s.averaged THEN 1 ELSE 0 END) AS counts,
    MIN(CASE WHEN s.kind IN ('compile', 'warm_up') THEN 1 ELSE 0 END) AS started
  FROM step AS s
  WHERE s.recovered_from = 'file'
  GROUP BY columns!(s, run_id, host_id, source_id)
)

SELECT f.source_id AS started_source
FROM files AS f
INNER JOIN files AS o ON o.run_id = f.run_id AND o.host_id = f.host_id AND o.counts = 1
WHERE f.counts = 0 AND f.started = 1
GROUP BY f.source_id

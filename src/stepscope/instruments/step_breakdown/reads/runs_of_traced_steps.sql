-- How many runs of a session did the steps of each host make that were traced in full, and how many of these were?
--
-- reads: counter
-- columns:
--   run_id, host_id
--   series | text | traced or untraced
--   runs | float | runs of the session, in all of these steps
SELECT
  columns!(c, run_id, host_id, series),
  SUM(c.value) AS runs
FROM counter AS c
WHERE c.name = 'runs of a session in a traced step'
GROUP BY columns!(c, run_id, host_id, series)
ORDER BY nulls_last!(c.run_id, c.host_id, c.series)

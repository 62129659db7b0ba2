-- Which functions did a run trace or compile, how often, and how often within its steps?
--
-- reads: compilation, _moment_step
-- parameters: run_id, host_ids
-- columns:
--   function
--   times | int | how often
--   again | int | of these, within a step and not for the first time
--   took_ps | ps | how long that took
SELECT
  c.function,
  COUNT(*) AS times,
  COUNT(CASE WHEN s.step_id IS NOT NULL AND c.number > 1 THEN 1 END) AS again,
  sum!(c.dur_ps) AS took_ps
FROM compilation AS c
LEFT JOIN _moment_step AS s ON s.what = 'compilation' AND s.moment_id = c.id
WHERE c.run_id = $run_id AND c.host_id IN $host_ids
GROUP BY c.function
ORDER BY c.function NULLS LAST

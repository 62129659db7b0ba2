-- For how much of the steps does something execute?
--
-- reads: step, step_part
-- columns:
--   run_id, host_id
--   steps_ps | ps | durations of the steps that averages include
--   busy_ps | ps | time of them in which ops compute, communicate or copy
--   idle_ps | ps | the rest
WITH working AS (
  SELECT p.step_id, SUM(p.dur_ps) AS part_ps
  FROM step_part AS p
  WHERE p.label IN ('compute', 'communication', 'copy')
  GROUP BY p.step_id
)

SELECT
  columns!(s, run_id, host_id),
  sum!(s.dur_ps) AS steps_ps,
  sum!(COALESCE(w.part_ps, 0)) AS busy_ps,
  sum!(s.dur_ps - COALESCE(w.part_ps, 0)) AS idle_ps
FROM step AS s
LEFT JOIN working AS w ON w.step_id = s.id
WHERE s.averaged
GROUP BY s.run_id, s.host_id

-- How much work goes on in the steps of each host while the time counts to something else?
--
-- reads: step_part, step
-- columns:
--   run_id, host_id, label
--   steps | int | steps that averages include
--   work_ps | ps | work of all of them under that label which something else hides
SELECT
  columns!(s, run_id, host_id),
  p.label,
  COUNT(DISTINCT s.id) AS steps,
  sum!(p.hidden_ps) AS work_ps
FROM step_part AS p
INNER JOIN step AS s ON s.id = p.step_id
WHERE s.averaged
GROUP BY s.run_id, s.host_id, p.label
ORDER BY nulls_last!(s.run_id, s.host_id, p.label)

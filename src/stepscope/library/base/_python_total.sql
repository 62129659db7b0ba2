-- How much time is known of the Python of each host, in how many steps?
--
-- reads: _step_python
-- columns:
--   of_run | text | run of the source
--   of_host | text | host of the source
--   of_kind | text | samples or slices
--   number | int | steps in which samples lie
--   all_ps | ps | time that is known
SELECT
  p.run_id AS of_run,
  p.host_id AS of_host,
  p.told_by AS of_kind,
  COUNT(DISTINCT p.step_id) AS number,
  sum!(p.spent_ps) AS all_ps
FROM _step_python AS p
GROUP BY p.run_id, p.host_id, p.told_by

-- How long does a host wait in calls that copy until the device begins to?
--
-- reads: _late_copy
-- parameters: run_id, host_id
-- columns:
--   call
--   waits_ps | ps | waits of that call, added up
SELECT l.call, sum!(l.end_ps - l.begin_ps) AS waits_ps
FROM _late_copy AS l
WHERE l.run_id = $run_id AND l.host_id = $host_id
GROUP BY l.call
ORDER BY nulls_last!(waits_ps DESC, l.call)

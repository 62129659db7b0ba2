-- How often did a host launch an op, a compiled function or a kernel?
--
-- reads: _launch_sum
-- parameters: run_id, host_id
-- columns:
--   launches | int | how often; NULL without any
SELECT sum!(l.launch_count) AS launches
FROM _launch_sum AS l
WHERE l.run_id = $run_id AND l.host_id = $host_id

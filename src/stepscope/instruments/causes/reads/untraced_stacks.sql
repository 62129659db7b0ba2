-- Where was the thread that runs the steps of a host in steps that no profiler recorded?
--
-- reads: untraced_stack
-- parameters: run_id, host_id
-- columns:
--   stack_id, looks, weight_ps, active_ps
SELECT u.stack_id, u.looks, u.weight_ps, u.active_ps
FROM untraced_stack AS u
WHERE u.run_id = $run_id AND u.host_id = $host_id AND u.weight_ps > 0
ORDER BY u.id NULLS LAST

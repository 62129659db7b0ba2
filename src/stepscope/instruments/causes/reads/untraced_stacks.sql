-- Stacks without a profiler
--
-- question: Where was the thread that runs the steps of a host in steps that no profiler recorded?
-- reads: untraced_stack
-- parameters:
--   run_id | text | run
--   host_id | text | host
-- columns:
--   stack_id | int | the stack
--   looks | int | how often the thread was seen there
--   weight_ps | ps | the time that these looks stand for
--   active_ps | ps | how long the thread ran meanwhile, or could have and had no core; NULL where it is not known
SELECT u.stack_id, u.looks, u.weight_ps, u.active_ps
FROM untraced_stack AS u
WHERE u.run_id = $run_id AND u.host_id = $host_id AND u.weight_ps > 0
ORDER BY u.id NULLS LAST

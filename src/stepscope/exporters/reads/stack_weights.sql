-- How much time do the samples of each stack represent on each thread?
--
-- reads: stack_sample
-- columns:
--   stack_id, run_id, host_id, thread_name
--   samples | int | how many
--   time_ps | ps | time that they represent
SELECT
  m.stack_id, m.run_id, m.host_id, m.thread_name, COUNT(*) AS samples, sum!(m.weight_ps) AS time_ps
FROM stack_sample AS m
GROUP BY columns!(m, stack_id, run_id, host_id, thread_name)
ORDER BY nulls_last!(m.run_id, m.host_id, m.thread_name, m.stack_id)

-- How much time do the samples of each stack represent on each thread, and how much of it did it run?
--
-- reads: stack_sample
-- columns:
--   run_id, host_id, thread_name, is_main, stack_id
--   time_ps | ps | time that its samples represent
--   cpu_sum_ps | ps | processor time of the thread meanwhile, as far as it is known
SELECT
  columns!(m, run_id, host_id, thread_name, is_main, stack_id),
  sum!(m.weight_ps) AS time_ps,
  CAST(SUM(CASE WHEN m.cpu_ps IS NULL THEN 0 ELSE m.cpu_ps END) AS BIGINT) AS cpu_sum_ps
FROM stack_sample AS m
GROUP BY columns!(m, run_id, host_id, thread_name, is_main, stack_id)
ORDER BY nulls_last!(m.run_id, m.host_id, m.thread_name, m.is_main, m.stack_id)

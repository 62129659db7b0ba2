-- For how long was each stack on each thread of the program that does not run the steps?
--
-- reads: stack_sample
-- parameters:
--   source_id | int | source that has the samples
-- columns:
--   track_id, thread_name, stack_id
--   samples | int | samples of it
--   time_ps | ps | time that they stand for
--   no_core_ps | ps | for how much of it the thread was ready and had no core
SELECT
  columns!(m, track_id, thread_name, stack_id),
  COUNT(*) AS samples,
  sum!(m.weight_ps) AS time_ps,
  sum!(COALESCE(m.queued_ps, 0)) AS no_core_ps
FROM stack_sample AS m
WHERE m.source_id = $source_id AND NOT m.is_main AND m.weight_ps > 0
GROUP BY m.track_id, m.thread_name, m.stack_id
ORDER BY nulls_last!(m.track_id, m.thread_name, m.stack_id)

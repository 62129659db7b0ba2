-- Which stacks did other threads have when that of the driving thread was one of some, and for how long?
--
-- reads: stack_sample
-- notes: All threads are looked at together: their samples stand for the same time.
-- parameters:
--   source_id | int | source that has the samples
--   stacks | ints | stacks of the driving thread
-- columns:
--   track_id, thread_name, stack_id
--   time_ps | ps | time of these samples
--   active_ps | ps | for how much of it the other thread ran or wanted a core; NULL where nothing tells
SELECT o.track_id, o.thread_name, o.stack_id, CAST(SUM(m.weight_ps) AS BIGINT) AS time_ps,
  CAST(SUM(o.cpu_ps + COALESCE(o.queued_ps, 0)) AS BIGINT) AS active_ps
FROM stack_sample AS m
INNER JOIN stack_sample AS o ON o.source_id = m.source_id AND o.ts_ps = m.ts_ps
WHERE m.source_id = $source_id AND m.is_main AND NOT o.is_main AND m.stack_id IN $stacks
GROUP BY o.track_id, o.thread_name, o.stack_id
ORDER BY nulls_last!(time_ps DESC, o.stack_id, o.track_id, o.thread_name)

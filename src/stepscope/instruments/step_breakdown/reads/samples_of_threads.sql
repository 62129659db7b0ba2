-- Which samples of the thread that runs the steps, or of the others, lie in a stretch of time?
--
-- reads: stack_sample
-- parameters: begin_ps, end_ps
--   sources | ints | sources that have the samples
--   main | int | 1 for the thread that runs the steps, 0 for the others
-- columns:
--   source_id, ts_ps, weight_ps
--   moment_ps | ps | when the stack was looked at; the middle of that time where nobody says
--   active_ps | ps | how long the thread ran meanwhile, or could have and had no core; NULL where it is not known
--   stack_id
--   no_core_ps | ps | for how much of active_ps it had no core
SELECT
  columns!(m, source_id, ts_ps, weight_ps),
  COALESCE(m.seen_ps, m.ts_ps + mean!(m.weight_ps, 2)) AS moment_ps,
  m.cpu_ps + COALESCE(m.queued_ps, 0) AS active_ps,
  m.stack_id,
  COALESCE(m.queued_ps, 0) AS no_core_ps
FROM stack_sample AS m
WHERE
  m.source_id IN $sources
  AND CASE WHEN m.is_main THEN 1 ELSE 0 END = $main
  AND m.weight_ps > 0
  AND m.ts_ps < $end_ps
  AND m.ts_ps + m.weight_ps > $begin_ps
ORDER BY m.id NULLS LAST

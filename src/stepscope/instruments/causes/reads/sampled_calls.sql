-- In which functions were the threads of a host seen by a profiler that samples their stacks from outside?
--
-- reads: rollup_op
-- parameters: run_id, host_id
-- columns:
--   name
--   seen_ps | ps | the time that its samples stand for, where it was the innermost function
SELECT
  r.name,
  sum!(r.self_ps) AS seen_ps
FROM rollup_op AS r
WHERE r.category = 'cpu_sample' AND r.run_id = $run_id AND r.host_id = $host_id
GROUP BY r.name
ORDER BY nulls_last!(seen_ps DESC, r.name)

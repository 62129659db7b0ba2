-- What does Python's garbage collection take of the steps of a host?
--
-- reads: _step_garbage
-- parameters: run_id, host_id
-- columns:
--   garbage_ps, steps_ps, steps, collections, whole_ones
SELECT columns!(g, garbage_ps, steps_ps, steps, collections, whole_ones)
FROM _step_garbage AS g
WHERE g.run_id = $run_id AND g.host_id = $host_id
ORDER BY nulls_last!(g.garbage_ps)

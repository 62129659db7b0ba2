-- Which sources of a host have samples of stacks?
--
-- reads: stack_sample
-- parameters: run_id, host_id
-- columns:
--   source_id
SELECT m.source_id
FROM stack_sample AS m
WHERE m.run_id = $run_id AND m.host_id = $host_id
GROUP BY m.source_id
ORDER BY m.source_id NULLS LAST

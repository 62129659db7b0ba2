-- What does each stage of a host's input pipelines need for a step?
--
-- reads: iterator
-- parameters: run_id, host_id
-- columns:
--   branch_name
--   needed_ps | ps | time that all stages of this name need for a step
SELECT i.branch_name, sum!(i.service_ps) AS needed_ps
FROM iterator AS i
WHERE i.run_id = $run_id AND i.host_id = $host_id AND i.service_ps IS NOT NULL
GROUP BY i.branch_name
ORDER BY nulls_last!(needed_ps DESC, i.branch_name)

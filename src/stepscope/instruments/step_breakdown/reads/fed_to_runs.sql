-- How many bytes were fed to the runs of a session that were traced, all of them together?
--
-- reads: op_run
-- columns:
--   run_id, host_id
--   fed_bytes | bytes | bytes of all values that were fed
SELECT r.run_id, r.host_id, sum!(r.output_bytes) AS fed_bytes
FROM op_run AS r
WHERE r.op_type = '_Arg' AND r.output_bytes IS NOT NULL
GROUP BY r.run_id, r.host_id
ORDER BY nulls_last!(r.run_id, r.host_id)

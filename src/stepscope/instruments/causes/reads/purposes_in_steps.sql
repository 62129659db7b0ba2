-- For how long does a host's main thread store, load, summarise, log or wait for a device, within averaged steps?
--
-- reads: _step_purpose
-- parameters: run_id, host_id
-- columns:
--   purpose
--   sum_ps | ps | time of the steps
SELECT p.purpose, CAST(SUM(p.time_ps) AS BIGINT) AS sum_ps
FROM _step_purpose AS p
WHERE p.run_id = $run_id AND p.host_id = $host_id
GROUP BY p.purpose
ORDER BY nulls_last!(sum_ps DESC, p.purpose)

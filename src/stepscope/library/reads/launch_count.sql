-- Launches of a host
--
-- question: How often did a host launch an op, a compiled function or a kernel?
-- reads: rollup_op
-- parameters:
--   run_id | text | run
--   host_id | text | host
-- columns:
--   launches | int | how often; NULL without any
SELECT CAST(SUM(r.slices) AS BIGINT) AS launches
FROM rollup_op AS r
WHERE
  r.run_id = $run_id
  AND r.host_id = $host_id
  AND (
    r.name LIKE 'EagerExecute%' OR r.name LIKE 'PjitFunction(%' OR r.name LIKE 'cudaLaunch%'
    OR r.name LIKE 'cuLaunch%' OR r.name LIKE 'hipLaunch%'
  )

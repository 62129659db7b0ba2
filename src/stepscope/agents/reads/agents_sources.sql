-- What was read of each run?
--
-- reads: source, step
-- columns:
--   run_id
--   hosts | int | hosts of the run
--   sources | int | files
--   steps | int | steps of all hosts
--   seen | int | events in the files
--   stored | int | those that became rows
--   lost | int | those that did not
SELECT s.run_id, count(DISTINCT s.host_id) AS hosts, count(*) AS sources,
  (SELECT count(*) FROM step AS t WHERE t.run_id = s.run_id) AS steps,
  CAST(sum(s.events_seen) AS BIGINT) AS seen, CAST(sum(s.events_stored) AS BIGINT) AS stored,
  CAST(sum(s.events_lost) AS BIGINT) AS lost
FROM source AS s
GROUP BY s.run_id
ORDER BY s.run_id NULLS LAST

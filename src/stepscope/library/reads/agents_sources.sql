-- Runs for agents
--
-- question: What was read of each run?
-- reads: source, step
-- columns:
--   run_id | text | run
--   hosts | int | hosts of the run
--   sources | int | files
--   steps | int | steps of all hosts
--   events_seen | int | events in the files
--   events_stored | int | those that became rows
--   events_lost | int | those that did not
SELECT s.run_id, count(DISTINCT s.host_id) AS hosts, count(*) AS sources,
  (SELECT count(*) FROM step AS t WHERE t.run_id = s.run_id) AS steps,
  CAST(sum(s.events_seen) AS BIGINT) AS events_seen, CAST(sum(s.events_stored) AS BIGINT) AS events_stored,
  CAST(sum(s.events_lost) AS BIGINT) AS events_lost
FROM source AS s
GROUP BY s.run_id
ORDER BY s.run_id NULLS LAST

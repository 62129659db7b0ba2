-- How many bytes of arrays does a recorded step of a host feed to runs of a session, and fetch, on average?
--
-- reads: counter
-- parameters: run_id, host_id
-- columns:
--   fed_bytes | bytes | bytes that are fed; empty where no recorder counted
--   fetched_bytes | bytes | bytes that are fetched
SELECT
  AVG(CASE WHEN c.series = 'fed' THEN c.value END) AS fed_bytes,
  AVG(CASE WHEN c.series = 'fetched' THEN c.value END) AS fetched_bytes
FROM counter AS c
WHERE c.run_id = $run_id AND c.host_id = $host_id AND c.name = 'bytes of a session in a step'

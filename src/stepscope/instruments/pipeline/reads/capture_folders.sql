-- How many capture folders does a run have on a host?
--
-- reads: source
-- parameters: run_id, host_id
-- columns:
--   captures | int | how many
SELECT COUNT(*) AS captures
FROM source AS s
WHERE s.kind = 'capture' AND s.run_id = $run_id AND s.host_id = $host_id

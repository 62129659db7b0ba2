-- How many cores did the captures of a run on a host sample?
--
-- reads: counter
-- parameters: run_id, host_id
-- columns:
--   source_id
--   cores | int | cores that were sampled
SELECT c.source_id, COUNT(DISTINCT c.series) AS cores
FROM counter AS c
WHERE c.run_id = $run_id AND c.host_id = $host_id AND c.name = 'core busy'
GROUP BY c.source_id
ORDER BY nulls_last!(c.source_id)

-- In how many traced runs of a session were the ops of a host recorded, where averages include only other steps?
--
-- reads: step
-- parameters: run_id, host_id
-- notes: A recorder of TensorFlow 1 traces a few runs in full, which takes long, and times the others. No row where no
--   run was traced beside them.
-- columns:
--   traced | int | runs
SELECT COUNT(*) AS traced
FROM step AS s
WHERE s.run_id = $run_id AND s.host_id = $host_id AND s.recovered_from = 'file'
HAVING COUNT(*) > 0 AND MAX(CASE WHEN s.averaged THEN 1 ELSE 0 END) = 0
ORDER BY traced NULLS LAST

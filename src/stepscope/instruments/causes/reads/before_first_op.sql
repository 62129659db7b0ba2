-- How long was a host recorded before its first op, where nothing shows its steps?
--
-- reads: step, op_slice
-- notes: Profilers are counted as recording while they start. No row where steps are known.
-- parameters: run_id, host_id
-- columns:
--   before_ps | ps | from the begin of the recording to that of its first op, or of its first launch
SELECT MIN(o.ts_ps) - MIN(s.ts_ps) AS before_ps
FROM step AS s
INNER JOIN op_slice AS o ON o.source_id = s.source_id
WHERE s.run_id = $run_id AND s.host_id = $host_id AND s.recovered_from = 'whole_capture'
GROUP BY s.source_id
HAVING MIN(o.ts_ps) > MIN(s.ts_ps)
ORDER BY before_ps DESC NULLS LAST
LIMIT 1

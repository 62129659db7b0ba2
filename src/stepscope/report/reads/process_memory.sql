-- How much memory did each recorded process take over time?
--
-- reads: counter
-- parameters:
--   most | int | rows to give
-- columns:
--   run_id, host_id, source_id, ts_ps
--   bytes | float | memory that the process had of the machine
SELECT c.run_id, c.host_id, c.source_id, c.ts_ps, c.value AS bytes
FROM counter AS c
WHERE c.name = 'process memory' AND c.series = 'rss_bytes' AND c.value >= 0
ORDER BY nulls_last!(c.source_id, c.ts_ps, c.id)
LIMIT $most

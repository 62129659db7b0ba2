-- Counters
--
-- question: Between which values does each counter move?
-- reads: counter
-- weakened_by: lost, capped, truncated
-- columns:
--   run_id, host_id
--   name | text | Counter | name of the counter
--   series | text | Series | name of the series within it
--   samples | int | Samples | values recorded
--   min_value | float | Least | smallest value
--   mean_value | float | Mean | mean of the samples, not weighted by time
--   max_value | float | Most | largest value
SELECT
  columns!(c, run_id, host_id, name, series),
  COUNT(*) AS samples,
  MIN(c.value) AS min_value,
  SUM(c.value) / COUNT(c.value) AS mean_value,
  MAX(c.value) AS max_value
FROM counter AS c
GROUP BY columns!(c, run_id, host_id, name, series)
ORDER BY nulls_last!(c.run_id, c.host_id, c.name, c.series)

-- How busy were cores and memory between two moments?
--
-- reads: counter
-- parameters: source_id
--   begin_ps | ps | first moment
--   end_ps | ps | last moment
-- columns:
--   name | text | core busy, process cpu, children cpu or machine memory
--   series
--   average | float | mean of the values
--   least | float | least of the values
SELECT c.name, c.series, AVG(c.value) AS average, MIN(c.value) AS least
FROM counter AS c
WHERE
  c.source_id = $source_id
  AND c.name IN ('core busy', 'process cpu', 'children cpu', 'machine memory')
  AND c.ts_ps >= $begin_ps
  AND c.ts_ps <= $end_ps
GROUP BY c.name, c.series
ORDER BY nulls_last!(c.name, c.series)

-- How many threads ran and waited for cores, as recordings began and ended?
--
-- reads: counter
-- parameters: source_id
--   until_ps | ps | last moment
-- columns:
--   series | text | which threads, and whether they ran or waited
--   value | float | how many, on average
SELECT c.series, c.value
FROM counter AS c
WHERE c.source_id = $source_id AND c.name = 'threads during recording' AND c.ts_ps <= $until_ps
ORDER BY nulls_last!(c.ts_ps, c.id)

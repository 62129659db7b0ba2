-- How many bytes does each category of a source hold, as PyTorch's memory timeline says?
--
-- reads: counter, source
-- parameters: source_id
--   most | int | rows to give, the first ones in time
-- columns:
--   ts_ps
--   series | text | category
--   value | float | bytes from then on
SELECT c.ts_ps, c.series, c.value
FROM counter AS c
INNER JOIN source AS s ON s.source_id = c.source_id
WHERE c.source_id = $source_id AND s.kind = 'memory' AND c.name = 'memory'
ORDER BY nulls_last!(c.ts_ps, c.id)
LIMIT $most

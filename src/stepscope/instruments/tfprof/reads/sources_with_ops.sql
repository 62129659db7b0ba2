-- How many sources have ops?
--
-- reads: op_slice
-- columns:
--   sources | int | how many
SELECT COUNT(DISTINCT o.source_id) AS sources
FROM op_slice AS o

-- When does each of some sources hold memory, and in how many blocks?
--
-- reads: buffer
-- parameters: sources
-- columns:
--   source_id
--   first_ps | ps | first moment
--   last_ps | ps | last moment
--   drawn | int | blocks with a lane
--   undrawn | int | blocks without one
--   undrawn_bytes | bytes | their size
SELECT
  b.source_id,
  MIN(COALESCE(b.born_ps, b.freed_ps)) AS first_ps,
  MAX(COALESCE(b.freed_ps, b.born_ps)) AS last_ps,
  COUNT(b.lane) AS drawn,
  CAST(sum_where!(b.lane IS NULL, 1) AS BIGINT) AS undrawn,
  CAST(sum_where!(b.lane IS NULL, b.bytes) AS BIGINT) AS undrawn_bytes
FROM buffer AS b
WHERE b.source_id IN $sources
GROUP BY b.source_id
HAVING COUNT(COALESCE(b.born_ps, b.freed_ps)) > 0
ORDER BY b.source_id NULLS LAST

-- How many slices of a source begin in each part of a stretch of time?
--
-- reads: slice
-- parameters: source_id, begin_ps, end_ps
--   width_ps | ps | length of a part
-- columns:
--   part | int | number of the part, from 0
--   slices | int | how many
WITH placed AS (
  SELECT mean!(s.ts_ps - $begin_ps, $width_ps) AS part
  FROM slice AS s
  WHERE s.source_id = $source_id AND s.ts_ps > $begin_ps AND s.ts_ps < $end_ps
)

SELECT p.part, COUNT(*) AS slices
FROM placed AS p
GROUP BY p.part
ORDER BY p.part NULLS LAST

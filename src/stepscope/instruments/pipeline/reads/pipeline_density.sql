-- How many events of a pipeline begin in each part of its time?
--
-- reads: _pipeline_slice
-- parameters: source_id
--   first_ps | ps | begin of the first part
--   width_ps | ps | length of a part
-- columns:
--   part | int | number of the part, from 0
--   events | int | how many
WITH placed AS (
  SELECT mean!(s.ts_ps - $first_ps, $width_ps) AS part
  FROM _pipeline_slice AS s
  WHERE s.source_id = $source_id
)

SELECT p.part, COUNT(*) AS events
FROM placed AS p
GROUP BY p.part
ORDER BY p.part NULLS LAST

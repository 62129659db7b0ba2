-- Data edges of partitions
--
-- question: What feeds what in the graphs that a source executed?
-- reads: edge
-- parameters:
--   source_id | int | source to look at
-- columns:
--   producer | text | node that produces
--   producer_slot | int | output number
--   consumer | text | node that consumes
SELECT e.producer, e.producer_slot, e.consumer
FROM edge AS e
WHERE e.source_id = $source_id AND e.graph LIKE '%partition/%' AND e.producer_slot >= 0
ORDER BY e.id NULLS LAST

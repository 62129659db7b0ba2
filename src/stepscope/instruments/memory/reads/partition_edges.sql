-- What feeds what in the graphs that a source executed?
--
-- reads: edge
-- parameters: source_id
-- columns:
--   producer, producer_slot, consumer
SELECT e.producer, e.producer_slot, e.consumer
FROM edge AS e
WHERE e.source_id = $source_id AND e.graph LIKE '%partition/%' AND e.producer_slot >= 0
ORDER BY e.id NULLS LAST

-- Which nodes of a graph does each node take from?
--
-- reads: edge
-- parameters:
--   source_id | int | source that has the graph
--   graph | text | which graph of the source
-- columns:
--   producer, consumer
--   is_control | bool | true for an edge that only orders
SELECT e.producer, e.consumer, e.producer_slot < 0 AS is_control
FROM edge AS e
WHERE e.source_id = $source_id AND e.graph = $graph
ORDER BY e.id NULLS LAST

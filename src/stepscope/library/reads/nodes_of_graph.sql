-- Which nodes does a graph have?
--
-- reads: node
-- parameters:
--   source_id | int | source that has the graph
--   graph | text | which graph of the source
-- columns:
--   name, op_type, device
--   placement_json | text | small attributes, where they name an XLA cluster; NULL otherwise
SELECT
  columns!(n, name, op_type, device),
  CASE WHEN n.args_json LIKE '%XlaCluster%' THEN n.args_json END AS placement_json
FROM node AS n
WHERE n.source_id = $source_id AND n.graph = $graph
ORDER BY n.id NULLS LAST

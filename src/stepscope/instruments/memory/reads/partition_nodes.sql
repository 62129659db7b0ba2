-- Nodes of partitions by type
--
-- question: Which nodes of certain types are in the graphs that a source executed?
-- reads: node
-- parameters:
--   source_id | int | source to look at
--   types | texts | op types
-- columns:
--   name | text | name of the node
--   op_type | text | its type
--   args_json | text | its small attributes, as a JSON object
SELECT n.name, n.op_type, n.args_json
FROM node AS n
WHERE n.source_id = $source_id AND n.graph LIKE '%partition/%' AND n.op_type IN $types
ORDER BY n.id NULLS LAST

-- Which nodes of certain types are in the graphs that a source executed?
--
-- reads: node
-- parameters: source_id
--   types | texts | op types
-- columns:
--   name, op_type, args_json
SELECT n.name, n.op_type, n.args_json
FROM node AS n
WHERE n.source_id = $source_id AND n.graph LIKE '%partition/%' AND n.op_type IN $types
ORDER BY n.id NULLS LAST

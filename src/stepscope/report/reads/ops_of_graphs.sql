-- How many nodes of each type do the graphs have?
--
-- reads: node
-- parameters:
--   most | int | types to give
-- columns:
--   op_type
--   nodes | int | how many
SELECT n.op_type, COUNT(*) AS nodes
FROM node AS n
GROUP BY n.op_type
ORDER BY nulls_last!(nodes DESC, n.op_type)
LIMIT $most

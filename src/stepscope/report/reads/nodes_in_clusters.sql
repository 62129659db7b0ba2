-- How many nodes of the graphs are marked for a cluster of XLA?
--
-- reads: node
-- columns:
--   nodes | int | how many
SELECT COUNT(*) AS nodes
FROM node AS n
WHERE n.args_json LIKE '%"_XlaCluster"%'

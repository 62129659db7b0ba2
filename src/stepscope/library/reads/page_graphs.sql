-- Which graphs are there, and how large is each?
--
-- reads: node, source
-- columns:
--   run_id, source_id, graph
--   nodes | int | its nodes
--   file | text | path of the source
SELECT n.run_id, n.source_id, n.graph, COUNT(*) AS nodes, s.path AS file
FROM node AS n
INNER JOIN source AS s ON s.source_id = n.source_id
GROUP BY n.run_id, n.source_id, n.graph, s.path
ORDER BY nulls_last!(nodes DESC, n.source_id, n.graph)

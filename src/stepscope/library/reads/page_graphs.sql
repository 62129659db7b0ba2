-- Graphs for a page
--
-- question: Which graphs are there, and how large is each?
-- reads: node
-- columns:
--   run_id | text | run
--   source_id | int | source that has it
--   graph | text | which graph of the source
--   nodes | int | its nodes
SELECT n.run_id, n.source_id, n.graph, COUNT(*) AS nodes
FROM node AS n
GROUP BY n.run_id, n.source_id, n.graph
ORDER BY nodes DESC NULLS LAST, n.source_id NULLS LAST, n.graph NULLS LAST

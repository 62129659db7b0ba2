-- Which nodes do the graphs of a run have?
--
-- reads: node
-- notes: Graphs of steps repeat; a node counts once for each graph that is called alike.
-- parameters: run_id
--   most | int | nodes to read
-- columns:
--   graph, name, op_type
SELECT n.graph, n.name, n.op_type
FROM node AS n
WHERE n.run_id = $run_id
GROUP BY n.graph, n.name, n.op_type
ORDER BY nulls_last!(n.graph, n.name, n.op_type)
LIMIT $most

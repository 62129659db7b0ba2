-- Which loops do the graphs of a run have, and did executors of a host go on more often than they have nodes?
--
-- reads: node, rollup_op
-- notes: Loops of gradients belong to those that they are of. TensorFlow's profiler leaves out ops that it expects to
--   be short; what their executor does is there all the same.
-- parameters: run_id, host_id
-- columns:
--   op_name | text | the op that is the loop
--   executions | int | how often executors went on to a node, in the whole recording
--   nodes | int | nodes of all graphs of the run; outside of loops, each runs once a step at most
WITH executors AS (
  SELECT r.run_id AS of_run, sum!(r.slices) AS number
  FROM rollup_op AS r
  WHERE r.run_id = $run_id AND r.host_id = $host_id AND r.name = 'ExecutorState::Process'
  GROUP BY r.run_id
),

graphs AS (
  SELECT o.run_id AS of_run, COUNT(*) AS number
  FROM node AS o
  WHERE o.run_id = $run_id
  GROUP BY o.run_id
)

SELECT n.name AS op_name, MAX(e.number) AS executions, MAX(g.number) AS nodes
FROM node AS n
INNER JOIN executors AS e ON e.of_run = n.run_id
INNER JOIN graphs AS g ON g.of_run = n.run_id
WHERE
  n.op_type IN ('While', 'StatelessWhile') AND n.name NOT LIKE '%_grad' AND n.name NOT LIKE 'gradient%'
GROUP BY n.name
ORDER BY n.name NULLS LAST

-- How often does the body of a loop in the graph run in the step which has all of its ops?
--
-- reads: slice
-- parameters: run_id, host_id
--   body | text | pattern of the names of the ops of its body
-- notes: TensorFlow leaves out ops while it takes them for cheap, in some steps and not in others.
-- columns:
--   passes | int | the most often that an op ran in a step; NULL where none is there
WITH runs AS (
  SELECT s.source_id, s.step, s.op_name, COUNT(*) AS number
  FROM slice AS s
  WHERE s.run_id = $run_id AND s.host_id = $host_id AND s.op_name LIKE $body AND s.step IS NOT NULL
  GROUP BY s.source_id, s.step, s.op_name
)

SELECT MAX(r.number) AS passes
FROM runs AS r

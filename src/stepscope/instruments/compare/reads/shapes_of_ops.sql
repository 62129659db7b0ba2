-- Which shape has the first output of each op of a run?
--
-- reads: tensor
-- notes: An op whose shape changes is left out.
-- parameters: run_id
-- columns:
--   op_name
--   shape_json | text | shape as JSON
SELECT t.op_name, MIN(t.shape) AS shape_json
FROM tensor AS t
WHERE t.run_id = $run_id AND t.slot = 0 AND t.shape IS NOT NULL
GROUP BY t.op_name
HAVING MIN(t.shape) = MAX(t.shape)
ORDER BY t.op_name NULLS LAST

-- How many floating point operations do the types of op of a run do in a step, and on how many parameters?
--
-- reads: tfprof_node
-- parameters: run_id
-- columns:
--   op_type | text | type of op
--   float_ops | int | floating point operations
--   param_count | int | elements of variables
SELECT n.name AS op_type, n.self_float_ops AS float_ops, n.self_params AS param_count
FROM tfprof_node AS n
WHERE n.run_id = $run_id AND n.view = 'op' AND n.depth > 0 AND (n.self_float_ops > 0 OR n.self_params > 0)
ORDER BY nulls_last!(n.self_float_ops DESC, n.name)

-- Executions of nodes
--
-- question: When did each node of a source run, and on which device?
-- reads: op_run, device
-- parameters:
--   source_id | int | source to look at
-- columns:
--   id | int | number of the execution
--   op_name | text | node
--   op_type | text | its type
--   start_ps | ps | when the executor started it
--   op_start_ps | ps | when its kernel began
--   kernel_end_ps | ps | when its kernel ended, or the executor finished it
--   device | text | name of the device
SELECT
  r.id, r.op_name, r.op_type, r.start_ps, r.op_start_ps, COALESCE(r.op_end_ps, r.end_ps) AS kernel_end_ps,
  d.name AS device
FROM op_run AS r
LEFT JOIN device AS d ON d.id = r.device_id
WHERE r.source_id = $source_id
ORDER BY r.id NULLS LAST

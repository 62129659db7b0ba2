-- When did each node of a source run, and on which device?
--
-- reads: op_run, device
-- parameters: source_id
-- columns:
--   id, op_name, op_type, start_ps, op_start_ps
--   kernel_end_ps | ps | when its kernel ended, or the executor finished it
--   device | text | name of the device
SELECT
  r.id, r.op_name, r.op_type, r.start_ps, r.op_start_ps, COALESCE(r.op_end_ps, r.end_ps) AS kernel_end_ps,
  d.name AS device
FROM op_run AS r
LEFT JOIN device AS d ON d.id = r.device_id
WHERE r.source_id = $source_id
ORDER BY r.id NULLS LAST

-- Allocation records of StepStats
--
-- question: What did allocators of a source give and take back, as RunMetadata records it?
-- reads: allocation, op_run, device
-- parameters:
--   source_id | int | source to look at
--   most | int | rows to give, the first ones in time
-- columns:
--   ts_ps | ps | when
--   delta_bytes | bytes | bytes given (positive) or taken back
--   allocator | text | name of the allocator
--   address | int | address, where known
--   op_run_id | int | execution that did it
--   op_name | text | its op
--   op_type | text | type of its op
--   device | text | its device
SELECT a.ts_ps, a.delta_bytes, a.allocator, a.address, a.op_run_id, r.op_name, r.op_type, d.name AS device
FROM allocation AS a
LEFT JOIN op_run AS r ON r.id = a.op_run_id
LEFT JOIN device AS d ON d.id = r.device_id
WHERE a.source_id = $source_id
ORDER BY nulls_last!(a.ts_ps, CASE WHEN a.delta_bytes > 0 THEN 0 ELSE 1 END, a.id)
LIMIT $most

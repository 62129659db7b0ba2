-- What did allocators of a source give and take back, as RunMetadata records it?
--
-- reads: allocation, op_run, device
-- parameters: source_id
--   most | int | rows to give, the first ones in time
-- columns:
--   ts_ps, delta_bytes, allocator, address, op_run_id, op_name, op_type
--   device | text | its device
SELECT a.ts_ps, a.delta_bytes, a.allocator, a.address, a.op_run_id, r.op_name, r.op_type, d.name AS device
FROM allocation AS a
LEFT JOIN op_run AS r ON r.id = a.op_run_id
LEFT JOIN device AS d ON d.id = r.device_id
WHERE a.source_id = $source_id
ORDER BY nulls_last!(a.ts_ps, CASE WHEN a.delta_bytes > 0 THEN 0 ELSE 1 END, a.id)
LIMIT $most

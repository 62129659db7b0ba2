-- Which tensors did the executions of a source produce?
--
-- reads: tensor
-- parameters: source_id
-- columns:
--   op_run_id, slot, requested_bytes, allocated_bytes, dtype, shape, address
SELECT t.op_run_id, t.slot, t.requested_bytes, t.allocated_bytes, t.dtype, t.shape, t.address
FROM tensor AS t
WHERE t.source_id = $source_id
ORDER BY t.id NULLS LAST

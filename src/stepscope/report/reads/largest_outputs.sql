-- Which outputs of ops were given the most bytes?
--
-- reads: tensor
-- parameters:
--   most | int | tensors to give
-- columns:
--   op_name, slot, shape, requested_bytes, allocator
SELECT t.op_name, t.slot, t.shape, t.requested_bytes, t.allocator
FROM tensor AS t
ORDER BY nulls_last!(t.requested_bytes DESC, t.id)
LIMIT $most

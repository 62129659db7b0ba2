-- The largest outputs of ops
--
-- question: Which outputs of ops were given the most bytes?
-- reads: tensor
-- parameters:
--   most | int | tensors to give
-- columns:
--   op_name | text | node that produced it
--   slot | int | which of its outputs
--   shape | text | shape as JSON
--   requested_bytes | bytes | bytes asked for
--   allocator | text | who gave them
SELECT t.op_name, t.slot, t.shape, t.requested_bytes, t.allocator
FROM tensor AS t
ORDER BY nulls_last!(t.requested_bytes DESC, t.id)
LIMIT $most

-- Which tensors of the checkpoints are largest?
--
-- reads: checkpoint_tensor
-- parameters:
--   most | int | rows to give
-- columns:
--   name, role, shape, bytes
SELECT c.name, c.role, c.shape, c.bytes
FROM checkpoint_tensor AS c
ORDER BY nulls_last!(c.bytes DESC, c.name)
LIMIT $most

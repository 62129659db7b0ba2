-- What did allocators of a source give and take back, as the TensorFlow profiler records it?
--
-- reads: slice
-- parameters: source_id
--   most | int | rows to give, the first ones in time
-- columns:
--   ts_ps
--   name | text | MemoryAllocation or MemoryDeallocation
--   allocation_bytes | text | bytes of the block
--   addr | text | where it begins
--   allocator_name | text | allocator
--   tf_op | text | op that it was for
--   region_type | text | output, temp or persist/dynamic
--   data_type | text | number of the element type
--   shape | text | shape of the tensor, as a JSON array
--   bytes_allocated | text | what the allocator holds after it
--   requested_bytes | text | bytes asked for
--   fragmentation | text | part of the free bytes that is not in the largest piece
SELECT
  columns!(s, ts_ps, name),
  arg!(s.args_json, allocation_bytes) AS allocation_bytes,
  arg!(s.args_json, addr) AS addr,
  arg!(s.args_json, allocator_name) AS allocator_name,
  arg!(s.args_json, tf_op) AS tf_op,
  arg!(s.args_json, region_type) AS region_type,
  arg!(s.args_json, data_type) AS data_type,
  arg!(s.args_json, shape) AS shape,
  arg!(s.args_json, bytes_allocated) AS bytes_allocated,
  arg!(s.args_json, requested_bytes) AS requested_bytes,
  arg!(s.args_json, fragmentation) AS fragmentation
FROM slice AS s
WHERE s.source_id = $source_id AND s.name IN ('MemoryAllocation', 'MemoryDeallocation')
ORDER BY nulls_last!(s.ts_ps, s.id)
LIMIT $most

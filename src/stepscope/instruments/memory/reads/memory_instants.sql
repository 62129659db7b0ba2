-- What did allocators of a source give and take back, as Kineto records it?
--
-- reads: instant
-- parameters: source_id
--   most | int | rows to give, the first ones in time
-- columns:
--   ts_ps
--   track_id | int | thread that did it
--   bytes | text | bytes given, negative for those taken back
--   device_type | text | kind of device, a number of PyTorch's c10::DeviceType
--   device_id | text | number of the device, negative for none
--   address | text | where the block begins
--   total_bytes | text | what the allocator holds after it
SELECT
  columns!(i, ts_ps, track_id),
  arg!(i.args_json, Bytes) AS bytes,
  arg!(i.args_json, "Device Type") AS device_type,
  arg!(i.args_json, "Device Id") AS device_id,
  arg!(i.args_json, Addr) AS address,
  arg!(i.args_json, "Total Allocated") AS total_bytes
FROM instant AS i
WHERE i.source_id = $source_id AND i.name = '[memory]'
ORDER BY nulls_last!(i.ts_ps, i.id)
LIMIT $most

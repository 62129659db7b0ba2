-- What did allocators of a source give and take back, as Kineto records it?
--
-- reads: instant
-- parameters: source_id
--   most | int | rows to give, the first ones in time
-- columns:
--   ts_ps
--   track_id | int | thread that did it
--   bytes | int | bytes given, negative for those taken back
--   device_type | int | kind of device, a number of PyTorch's c10::DeviceType
--   device_id | int | number of the device, negative for none
--   address | int | where the block begins
--   total_bytes | int | what the allocator holds after it
SELECT
  columns!(i, ts_ps, track_id),
  TRY_CAST(arg!(i.args_json, Bytes) AS BIGINT) AS bytes,
  TRY_CAST(arg!(i.args_json, "Device Type") AS BIGINT) AS device_type,
  TRY_CAST(arg!(i.args_json, "Device Id") AS BIGINT) AS device_id,
  TRY_CAST(arg!(i.args_json, Addr) AS BIGINT) AS address,
  TRY_CAST(arg!(i.args_json, "Total Allocated") AS BIGINT) AS total_bytes
FROM instant AS i
WHERE i.source_id = $source_id AND i.name = '[memory]'
ORDER BY nulls_last!(i.ts_ps, i.track_id, i.id)
LIMIT $most

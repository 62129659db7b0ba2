-- What ran on accelerators without the name of an op?
--
-- reads: op_slice, slice
-- columns:
--   source_id, correlation_id, name, op_type, device, step, self_ps, ts_ps
--   moved_bytes | text | bytes that it moved, as found
SELECT
  o.source_id,
  columns!(s, correlation_id, name),
  columns!(o, op_type, device, step, self_ps),
  s.ts_ps,
  CASE WHEN s.args_json LIKE '%"bytes"%' THEN arg!(s.args_json, bytes) END AS moved_bytes
FROM op_slice AS o
INNER JOIN slice AS s ON s.id = o.slice_id
WHERE o.place = 'device' AND s.op_name IS NULL
ORDER BY nulls_last!(o.source_id, s.ts_ps, s.id)

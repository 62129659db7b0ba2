-- How many operations and bytes does one execution of each instruction have, as the profiler recorded it?
--
-- reads: instant, track
-- columns:
--   source_id, process, name
--   flops | text | operations
--   bytes | text | bytes of all memories
--   breakdown | text | bytes by memory: a protocol buffer in base64
SELECT
  i.source_id,
  t.process,
  i.name,
  MAX(arg!(i.args_json, flops)) AS flops,
  MAX(arg!(i.args_json, bytes_accessed)) AS bytes,
  MAX(arg!(i.args_json, memory_access_breakdown)) AS breakdown
FROM instant AS i
INNER JOIN track AS t ON t.id = i.track_id
WHERE
  i.category = 'event_metadata' AND i.args_json LIKE '%"hlo_category"%' AND i.args_json LIKE '%"bytes_accessed"%'
GROUP BY i.source_id, t.process, i.name
ORDER BY nulls_last!(i.source_id, t.process, i.name)

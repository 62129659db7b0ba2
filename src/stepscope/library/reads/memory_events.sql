-- Memory events of XPlanes
--
-- question: What did allocators of a source give and take back, as the TensorFlow profiler records it?
-- reads: slice
-- parameters:
--   source_id | int | source to look at
--   most | int | rows to give, the first ones in time
-- columns:
--   ts_ps | ps | when
--   name | text | MemoryAllocation or MemoryDeallocation
--   args_json | text | its values, as a JSON object
SELECT s.ts_ps, s.name, s.args_json
FROM slice AS s
WHERE s.source_id = $source_id AND s.name IN ('MemoryAllocation', 'MemoryDeallocation')
ORDER BY s.ts_ps NULLS LAST, s.id NULLS LAST
LIMIT $most

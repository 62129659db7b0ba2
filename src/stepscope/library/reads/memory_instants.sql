-- Memory events of PyTorch
--
-- question: What did allocators of a source give and take back, as Kineto records it?
-- reads: instant
-- parameters:
--   source_id | int | source to look at
--   most | int | rows to give, the first ones in time
-- columns:
--   ts_ps | ps | when
--   track_id | int | thread that did it
--   args_json | text | its values, as a JSON object
SELECT i.ts_ps, i.track_id, i.args_json
FROM instant AS i
WHERE i.source_id = $source_id AND i.name = '[memory]'
ORDER BY i.ts_ps NULLS LAST, i.id NULLS LAST
LIMIT $most

-- What did the stacks of a source hold, as a profile of memory says?
--
-- reads: instant
-- parameters: source_id
--   most | int | rows to give
-- columns:
--   args_json | text | bytes, device, kind and stack, as a JSON object
SELECT i.args_json
FROM instant AS i
WHERE i.source_id = $source_id AND i.name = '[memory profile]'
ORDER BY i.id NULLS LAST
LIMIT $most

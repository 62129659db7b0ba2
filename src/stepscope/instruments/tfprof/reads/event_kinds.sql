-- What does the metadata of each kind of event say?
--
-- reads: instant, track
-- columns:
--   source_id
--   process | text | plane
--   name
--   args_json | text | the metadata, as a JSON object
SELECT i.source_id, t.process, i.name, i.args_json
FROM instant AS i
INNER JOIN track AS t ON t.id = i.track_id
WHERE i.category = 'event_metadata' AND i.args_json IS NOT NULL
ORDER BY nulls_last!(i.source_id, i.id)

-- How many sources have events, and how many of these have a recorder that knows no ops?
--
-- reads: source, _drawn_source
-- columns:
--   sources | int | how many have events
--   drawn | int | how many of them know no ops
SELECT COUNT(*) AS sources, COUNT(d.source_id) AS drawn
FROM source AS s
LEFT JOIN _drawn_source AS d ON d.source_id = s.source_id
WHERE s.events_stored > 0

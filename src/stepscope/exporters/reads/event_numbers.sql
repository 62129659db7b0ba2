-- Which numbers do the counters, flows, instants and slices of each source have?
--
-- reads: counter, flow, instant, slice
-- columns:
--   event_table | text | counter, flow, instant or slice
--   source_id
--   first_id | int | least number
--   last_id | int | greatest number
SELECT 'counter' AS event_table, c.source_id, MIN(c.id) AS first_id, MAX(c.id) AS last_id
FROM counter AS c
GROUP BY c.source_id
UNION ALL
SELECT 'flow' AS event_table, f.source_id, MIN(f.id) AS first_id, MAX(f.id) AS last_id
FROM flow AS f
GROUP BY f.source_id
UNION ALL
SELECT 'instant' AS event_table, i.source_id, MIN(i.id) AS first_id, MAX(i.id) AS last_id
FROM instant AS i
GROUP BY i.source_id
UNION ALL
SELECT 'slice' AS event_table, s.source_id, MIN(s.id) AS first_id, MAX(s.id) AS last_id
FROM slice AS s
GROUP BY s.source_id
ORDER BY nulls_last!(event_table, source_id)

-- Which sources are of programs whose threads ran Python at the same time?
--
-- reads: source_note
-- columns:
--   source_id
SELECT n.source_id
FROM source_note AS n
WHERE n.slug = 'free-threaded' AND n.source_id IS NOT NULL
GROUP BY n.source_id
ORDER BY n.source_id NULLS LAST

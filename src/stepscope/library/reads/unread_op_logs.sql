-- Which op logs could not be read?
--
-- reads: source_note
-- columns:
--   detail
SELECT n.detail
FROM source_note AS n
WHERE n.slug = 'op-log-unread'
ORDER BY n.detail NULLS LAST

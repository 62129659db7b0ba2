-- Op logs that could not be read
--
-- question: Which op logs could not be read?
-- reads: source_note
-- columns:
--   detail | text | what is wrong with one
SELECT n.detail
FROM source_note AS n
WHERE n.slug = 'op-log-unread'
ORDER BY n.detail NULLS LAST

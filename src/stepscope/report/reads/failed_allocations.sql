-- What was asked of memory that it could not give?
--
-- reads: source_note, source
-- columns:
--   detail | text | the sentence of the note
SELECT n.detail
FROM source_note AS n
INNER JOIN source AS s ON s.source_id = n.source_id
WHERE n.slug = 'out-of-memory' AND n.detail IS NOT NULL
ORDER BY nulls_last!(s.path, n.detail)

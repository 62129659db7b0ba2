-- What is lost or was cut?
--
-- reads: source_note
-- parameters:
--   source_id | int | source to look at; NULL: all of them
--   most | int | notes to give
-- columns:
--   slug, detail
SELECT n.slug, n.detail
FROM source_note AS n
WHERE n.effect IN ('lost', 'capped') AND n.source_id = COALESCE($source_id, n.source_id)
GROUP BY n.slug, n.detail
ORDER BY nulls_last!(n.slug, n.detail)
LIMIT $most

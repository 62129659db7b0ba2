-- How many slices have a text in their name, whatever its case?
--
-- reads: rollup_op
-- parameters:
--   text | text | what to look for
-- columns:
--   labels | int | tracks, names, ops and categories that these slices share
--   found | int | slices
SELECT COUNT(*) AS labels, COALESCE(sum!(r.slices), 0) AS found
FROM rollup_op AS r
WHERE STRPOS(LOWER(r.name), LOWER($text)) > 0

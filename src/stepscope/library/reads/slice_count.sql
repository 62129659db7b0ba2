-- How many slices does a source have?
--
-- reads: slice
-- parameters: source_id
-- columns:
--   slices | int | how many
SELECT COUNT(*) AS slices
FROM slice AS s
WHERE s.source_id = $source_id

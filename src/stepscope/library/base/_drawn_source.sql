-- Sources whose recorder knows no ops
--
-- question: Which sources have slices that stand for whatever their writer drew, and not for ops?
-- reads: source
-- columns:
--   source_id | int | Source | number of the source
SELECT s.source_id
FROM source AS s
WHERE s.producer IN ('viztracer', 'unknown')

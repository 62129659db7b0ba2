-- Which sources have slices that stand for whatever their writer drew, and not for ops?
--
-- reads: source, track
-- notes: Slices on rows of an accelerator are ops, whichever tool wrote them.
-- columns:
--   source_id
WITH devices AS (
  SELECT t.source_id
  FROM track AS t
  WHERE t.kind = 'device_stream'
  GROUP BY t.source_id
)

SELECT s.source_id
FROM source AS s
LEFT JOIN devices AS d ON d.source_id = s.source_id
WHERE s.producer IN ('viztracer', 'unknown') AND d.source_id IS NULL

-- How many asynchronous spans do sources have, and how many slices of these sources lack an end?
--
-- reads: slice, track, source_note
-- notes: Whatever has no end was given one by the decoder: its duration says nothing of how long it took.
-- columns:
--   spans | int | asynchronous spans, those within others included
--   unclosed | int | slices without an end
WITH held AS (
  SELECT s.source_id AS in_source, COUNT(*) AS async_spans
  FROM slice AS s
  INNER JOIN track AS t ON t.id = s.track_id
  WHERE t.kind = 'async'
  GROUP BY s.source_id
),

unclosed AS (
  SELECT n.source_id AS of_source, sum!(n.events) AS open_slices
  FROM source_note AS n
  WHERE n.slug = 'unclosed-begin'
  GROUP BY n.source_id
)

SELECT sum!(h.async_spans) AS spans, COALESCE(sum!(u.open_slices), 0) AS unclosed
FROM held AS h
LEFT JOIN unclosed AS u ON u.of_source = h.in_source

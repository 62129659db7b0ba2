-- Completeness
--
-- question: What of each source was read, and what was lost, repaired, capped or missing?
-- reads: source, source_note, broken_law
-- notes: One row for each note of a source and for each law that it breaks, and one for each source with neither.
-- columns:
--   path | text | Source | path as given
--   slug | text | Note | what happened; `stepscope docs` explains it
--   what | text | Effect | lost, repaired, capped, missing, recorder or info
--   events | int | Events | events concerned
--   format | text | Format | format of the source
--   complete | bool | Complete | true when nothing was lost, cut or damaged
--   events_seen | int | Seen | events in the file
--   events_stored | int | Stored | events that became rows
--   events_lost | int | Lost | events seen but not stored
--   events_repaired | int | Repaired | events stored after a repair
--   events_capped | int | Capped | events that the recorder itself dropped or cut
--   first_offset | int | At byte | byte offset of the first of them
--   why | text | Detail | one sentence about this file
WITH notes AS (
  SELECT n.source_id AS of_source, n.slug, n.effect, n.events, n.first_offset, n.detail
  FROM source_note AS n
  UNION ALL
  SELECT
    b.source_id AS of_source,
    b.law AS slug,
    'missing' AS effect,
    b.number AS events,
    NULL AS first_offset,
    b.said AS detail
  FROM broken_law AS b
)

SELECT
  o.path,
  n.slug,
  COALESCE(n.effect, CASE WHEN o.error IS NULL THEN NULL ELSE 'lost' END) AS what,
  n.events,
  columns!(o, format, complete, events_seen, events_stored, events_lost, events_repaired, events_capped),
  n.first_offset,
  COALESCE(n.detail, o.error) AS why
FROM source AS o
LEFT JOIN notes AS n ON n.of_source = o.source_id
ORDER BY nulls_last!(o.path, n.effect, n.slug, n.first_offset, n.detail, o.source_id)

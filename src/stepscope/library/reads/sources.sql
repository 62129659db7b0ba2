-- Sources
--
-- question: What was read, and from where?
-- reads: source
-- columns:
--   source_id, run_id, host_id
--   path | text | where it was read
--   format | text | its format
--   producer | text | what wrote it
--   kind | text | what it is: trace, profile, memory, capture, graph, checkpoint or dump
--   framework | text | whose programs its writer records; NULL for others
--   events_seen | int | events in it
--   events_stored | int | events that became rows
--   complete | bool | true when nothing was lost, cut or damaged
--   events_lost | int | events seen but not stored
--   events_capped | int | events that the recorder dropped or cut
SELECT
  s.source_id, s.run_id, s.host_id, s.path, s.format, s.producer, s.kind, s.framework, s.events_seen,
  s.events_stored, s.complete, s.events_lost, s.events_capped
FROM source AS s
ORDER BY s.source_id NULLS LAST

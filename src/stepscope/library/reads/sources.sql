-- What was read, and from where?
--
-- reads: source
-- columns:
--   source_id, run_id, host_id, path, format, producer, kind, framework, events_seen, events_stored, complete
--   events_lost, events_capped
SELECT
  s.source_id, s.run_id, s.host_id, s.path, s.format, s.producer, s.kind, s.framework, s.events_seen,
  s.events_stored, s.complete, s.events_lost, s.events_capped
FROM source AS s
ORDER BY s.source_id NULLS LAST

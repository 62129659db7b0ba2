-- What was read, how complete is it, and where does it lie on the axis of time?
--
-- reads: source, _source_shift
-- columns:
--   source_id, run_id, host_id
--   name | text | path as given
--   format, producer, bytes, events_seen, events_stored, events_lost, events_repaired, events_capped, complete, error
--   clock_known | bool | whether the time of day says where it lies
--   first_ps, last_ps, placed_by, residual_ps
SELECT
  columns!(s, source_id, run_id, host_id),
  s.path AS name,
  columns!(s,
    format, producer, bytes, events_seen, events_stored, events_lost, events_repaired, events_capped, complete, error
  ),
  f.known AS clock_known,
  columns!(f, first_ps, last_ps, placed_by, residual_ps)
FROM source AS s
INNER JOIN _source_shift AS f ON f.source_id = s.source_id
ORDER BY s.source_id NULLS LAST

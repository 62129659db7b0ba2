-- Sources for a page
--
-- question: What was read, how complete is it, and where does it lie on the axis of time?
-- reads: source, _source_shift
-- columns:
--   source_id, run_id, host_id
--   name | text | path as given
--   format | text | format of the file
--   producer | text | what wrote it
--   bytes | bytes | size as stored
--   events_seen | int | events in the file
--   events_stored | int | events that became rows
--   events_lost | int | events seen but not stored
--   events_repaired | int | events stored after a repair
--   events_capped | int | events that the recorder dropped
--   complete | bool | whether nothing was lost, cut or damaged
--   error | text | why it could not be read at all
--   clock_known | bool | whether the time of day says where it lies
--   first_ps | ps | its first moment on the axis
--   last_ps | ps | its last moment on the axis
--   placed_by | text | what says where it lies, as in _source_shift
--   residual_ps | ps | placed by collectives: nine of ten of their ends are this close
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

-- Slices of threads with memory events
--
-- question: Which slices lie on the threads of a source that have memory events?
-- reads: slice, instant
-- parameters:
--   source_id | int | source to look at
-- columns:
--   track_id | int | thread
--   ts_ps | ps | start
--   end_ps | ps | end
--   depth | int | slices around it
--   name | text | name as found
SELECT s.track_id, s.ts_ps, s.ts_ps + s.dur_ps AS end_ps, s.depth, s.name
FROM slice AS s
WHERE
  s.source_id = $source_id
  AND s.track_id IN (
    SELECT i.track_id
    FROM instant AS i
    WHERE i.source_id = $source_id AND i.name = '[memory]'
  )
ORDER BY s.track_id NULLS LAST, s.ts_ps NULLS LAST, s.depth NULLS LAST, s.id NULLS LAST

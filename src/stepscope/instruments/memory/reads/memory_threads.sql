-- Which slices lie on the threads of a source's memory events?
--
-- reads: slice, instant
-- parameters: source_id
-- notes: Outer slices come before those within them.
-- columns:
--   track_id
--   begin_ps | ps | start
--   end_ps | ps | end
--   slices_around | int | how many are around it
--   rollup_id | int | row of rollup_op that has its name
SELECT
  s.track_id,
  s.ts_ps AS begin_ps,
  s.ts_ps + s.dur_ps AS end_ps,
  CAST(s.depth AS BIGINT) AS slices_around,
  s.rollup_id
FROM slice AS s
WHERE
  s.source_id = $source_id
  AND s.track_id IN (SELECT i.track_id FROM instant AS i WHERE i.source_id = $source_id AND i.name = '[memory]')
ORDER BY nulls_last!(s.track_id, s.ts_ps, s.depth, s.id)

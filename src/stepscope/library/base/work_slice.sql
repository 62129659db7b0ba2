-- Op slices that are work, within the window
--
-- question: When was something really at work?
-- reads: op_slice, observed
-- notes: Waits and launches are not work. Slices are cut at the edges of the stretches of observed.
-- columns:
--   slice_id | int | Slice | number of the slice
--   source_id
--   track_id | int | Track | track it lies on
--   device_track_id | int | First track | number for place and device, as in track_place
--   piece_id | int | Stretch | stretch of observed it lies in
--   from_ps | ps | From | start, or the start of the stretch
--   to_ps | ps | To | end, or the end of the stretch
SELECT
  columns!(o, slice_id, source_id, track_id, device_track_id),
  w.piece_id,
  greatest!(w.open_ps, o.ts_ps) AS from_ps,
  least!(w.close_ps, o.end_ps) AS to_ps
FROM op_slice AS o
INNER JOIN observed AS w ON w.source_id = o.source_id
WHERE
  o.works
  AND o.dur_ps > 0
  AND o.ts_ps < w.close_ps
  AND o.end_ps > w.open_ps

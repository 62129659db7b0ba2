-- Slices that wait
--
-- question: Which slices are waits, and for what?
-- reads: slice, rollup_op, track_place
-- notes: Recognised by the names that TensorFlow, XLA, CUDA, PyTorch and Horovod give to calls that
--   block. A wait may hide under other names; what is listed here is certain, what is not is unknown.
--   stepscope docs classes has the names.
-- columns:
--   slice_id | int | Slice | number of the slice
--   run_id, host_id, source_id
--   track_id | int | Track | track it lies on
--   place | text | Place | device, host or launch, as in track_place
--   step | int | Step | step during which it started
--   wait | text | Wait | what is waited for: input, receive, copy, device, stream, peers
--   name | text | Name | name of the slice
--   ts_ps | ps | Start | start, from the capture's origin
--   end_ps | ps | End | end, from the capture's origin
--   dur_ps | ps | Duration | duration
SELECT
  s.id AS slice_id,
  columns!(s, run_id, host_id, source_id, track_id),
  p.place,
  s.step,
  columns!(r, wait, name),
  s.ts_ps,
  s.ts_ps + s.dur_ps AS end_ps,
  s.dur_ps
FROM slice AS s
INNER JOIN rollup_op AS r ON r.id = s.rollup_id
INNER JOIN track_place AS p ON p.track_id = s.track_id
WHERE r.wait IS NOT NULL

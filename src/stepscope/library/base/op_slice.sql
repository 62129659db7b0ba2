-- Slices that stand for ops
--
-- question: Which slices are ops, kernels, copies or waits of ops, and of which class?
-- reads: slice, rollup_op, track_place
-- notes: On device streams every slice counts but marks and waits between streams. On threads and
--   lanes a slice counts when the recording names its op, or, in recordings that know no ops
--   (Horovod, VizTracer, unknown writers), always. Python frames, framework internals, launches of
--   the CUDA runtime and marks do not count: stepscope docs classes has the rules. Slices nest: add up
--   self_ps, not dur_ps.
-- columns:
--   slice_id | int | Slice | number of the slice
--   run_id, host_id, source_id
--   track_id | int | Track | track it lies on
--   place | text | Place | device, host or launch, as in track_place
--   device | text | Device | device it ran on or was launched from
--   device_track_id | int | First track | number for place and device, as in track_place
--   device_kind | text | Device kind | cpu, gpu, tpu or unknown
--   step | int | Step | step during which it started
--   op | text | Op | name of the op, or of the slice where the op is unknown
--   op_type | text | Op type | type of the op, or the op where no type is known
--   class | text | Class | compute, copy, communication, compile, python, dispatch, input (a wait for input) or wait
--   works | bool | Works | true for work: neither a wait nor on a row of launches
--   ts_ps | ps | Start | start, from the capture's origin
--   end_ps | ps | End | end, from the capture's origin
--   dur_ps | ps | Duration | duration with children
--   self_ps | ps | Self time | duration without the ops and waits on top of it; slices on top that are
--     neither count to it
WITH named AS (
  SELECT
    s.id AS slice_id,
    columns!(s, run_id, host_id, source_id, track_id, step),
    COALESCE(r.op_name, r.name) AS op,
    COALESCE(r.op_type, r.op_name, r.name) AS type_or_name,
    r.class,
    s.ts_ps,
    s.ts_ps + s.dur_ps AS end_ps,
    s.dur_ps,
    COALESCE(s.op_self_ps, s.self_ps) AS whole_self_ps
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  WHERE r.is_op
)

SELECT
  columns!(n, slice_id, run_id, host_id, source_id, track_id),
  columns!(p, place, device, device_track_id, device_kind),
  columns!(n, step, op),
  n.type_or_name AS op_type,
  n.class,
  n.class NOT IN ('input', 'wait') AND p.place <> 'launch' AS works,
  columns!(n, ts_ps, end_ps, dur_ps),
  n.whole_self_ps AS self_ps
FROM named AS n
INNER JOIN track_place AS p ON p.track_id = n.track_id

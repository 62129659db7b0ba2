-- Slices with what their label says
--
-- question: Which slices are of a certain class?
-- reads: slice, rollup_op
-- notes: A slice is classified by what it is called, once for all that are called alike; filter by class
--   or label, and only those slices are looked at. Slices that the view op_slice leaves out are not here.
-- columns:
--   slice_id | int | Slice | number of the slice
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   track_id | int | Track | track it lies on
--   op | text | Op | name of the op
--   type_or_name | text | Op type | type of the op, or its name where no type is known
--   class | text | Class | compute, copy, collective, compile, python, input or wait
--   ts_ps | ps | Start | start, from the capture's origin
--   end_ps | ps | End | end, from the capture's origin
--   dur_ps | ps | Duration | duration with children
SELECT
  s.id AS slice_id,
  s.run_id,
  s.host_id,
  s.source_id,
  s.track_id,
  COALESCE(r.op_name, r.name) AS op,
  COALESCE(r.op_type, r.op_name, r.name) AS type_or_name,
  r.class,
  s.ts_ps,
  s.ts_ps + s.dur_ps AS end_ps,
  s.dur_ps
FROM slice AS s
INNER JOIN rollup_op AS r ON r.id = s.rollup_id
WHERE r.is_op

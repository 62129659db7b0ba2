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
--   class | text | Class | compute, copy, collective, compile, python or wait
--   ts_ps | ps | Start | start, from the capture's origin
--   end_ps | ps | End | end, from the capture's origin
--   dur_ps | ps | Duration | duration with children
WITH labels AS (
  SELECT
    r.track_id,
    r.name,
    r.category,
    r.op_name,
    r.op_type AS label_type,
    r.class,
    COALESCE(r.op_name, r.name) AS op,
    COALESCE(r.op_type, r.op_name, r.name) AS type_or_name
  FROM rollup_op AS r
  WHERE r.is_op
)

SELECT
  s.id AS slice_id,
  s.run_id,
  s.host_id,
  s.source_id,
  s.track_id,
  l.op,
  l.type_or_name,
  l.class,
  s.ts_ps,
  s.ts_ps + s.dur_ps AS end_ps,
  s.dur_ps
FROM slice AS s
INNER JOIN labels AS l
  ON l.track_id = s.track_id
  AND l.name = s.name
  AND COALESCE(l.op_name, '') = COALESCE(s.op_name, '')
  AND (l.category = s.category OR (l.category IS NULL AND s.category IS NULL))
  AND (l.op_name = s.op_name OR (l.op_name IS NULL AND s.op_name IS NULL))
  AND (l.label_type = s.op_type OR (l.label_type IS NULL AND s.op_type IS NULL))

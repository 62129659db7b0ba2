-- Slices of input pipelines
--
-- question: Which slices are calls of tf.data iterators, or run their functions?
-- reads: slice, track
-- notes: In a lane, an op that takes a batch goes by its type.
-- columns:
--   slice_id | int | Slice | number of the slice
--   source_id
--   track_id | int | Track | thread it lies on
--   name | text | Name | name as found, or type of the op that takes a batch
--   ts_ps | ps | Start | start, from the capture's origin
--   dur_ps | ps | Duration | duration with children
--   self_ps | ps | Self time | duration without what lies on top of it
--   args_json | text | Values | every named value, as a JSON object
WITH found AS (
  SELECT
    s.id AS slice_id,
    columns!(s, source_id, track_id),
    CASE WHEN t.kind = 'lane' AND s.op_type LIKE 'IteratorGetNext%' THEN s.op_type ELSE s.name END AS spoken,
    columns!(s, ts_ps, dur_ps, self_ps, args_json)
  FROM slice AS s
  INNER JOIN track AS t ON t.id = s.track_id
  WHERE pipeline_call!(s.name, s.op_type, t.kind, t.records)
)
SELECT f.slice_id, f.source_id, f.track_id, f.spoken AS name, f.ts_ps, f.dur_ps, f.self_ps, f.args_json
FROM found AS f

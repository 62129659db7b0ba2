-- Which slices are calls of tf.data iterators, or run their functions?
--
-- reads: slice, track
-- notes: In a lane, an op that takes a batch goes by its type.
-- columns:
--   slice_id | int | number of the slice
--   source_id, track_id
--   name | text | name as found, or type of the op that takes a batch
--   ts_ps, dur_ps, self_ps, args_json
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

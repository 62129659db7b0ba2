-- Slices of input pipelines
--
-- question: Which slices are calls of tf.data iterators, or run their functions?
-- reads: slice, track
-- notes: The statement pipeline_event_counts looks for the same names in rollup_op. Of lanes, into which runs of a
--   session are packed, only the ops that take a batch count, under their types.
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
  WHERE
    (
      s.name LIKE 'Iterator::%' OR s.name LIKE '%Produce' OR s.name LIKE 'InstantiatedCapturedFunction::%'
      OR s.name LIKE 'MakeIterator::%' OR s.name LIKE 'IteratorGetNext%::DoCompute'
      OR s.name LIKE '%/EagerPyFunc:EagerPyFunc' OR s.name LIKE '%/PyFunc:PyFunc'
      OR s.name IN (
        'ExecutorState::Process', 'EagerPyFunc:EagerPyFunc', 'PyFunc:PyFunc', 'PyFuncStateless:PyFuncStateless'
      )
      OR (t.kind = 'lane' AND t.records <> 'annotation' AND s.op_type LIKE 'IteratorGetNext%')
    )
)
SELECT f.slice_id, f.source_id, f.track_id, f.spoken AS name, f.ts_ps, f.dur_ps, f.self_ps, f.args_json
FROM found AS f

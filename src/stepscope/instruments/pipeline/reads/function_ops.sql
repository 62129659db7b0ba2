-- Which ops ran on threads of a host that belong to no step, so that functions of tf.data ran them?
--
-- reads: slice, track
-- notes: TensorFlow 1 records what its threads run as node:Type, and each op of a session once more, on the row of its
--   device. Files of several runs pack both into lanes. The profilers of TensorFlow 2.0 and 2.1 record node:Type once;
--   ops of a step have a type. Ops that make datasets are not the work of a function, what Python's own thread runs is
--   the program's, and sends and receives between devices belong to the session.
-- parameters: source_id, until_ps
-- columns:
--   slice_id | int | the slice
--   track_id
--   track | text | name of the thread
--   ts_ps, dur_ps, name
WITH ran AS (
  SELECT s.op_name || ':' || s.op_type AS host_name
  FROM slice AS s
  WHERE s.source_id = $source_id AND s.op_type IS NOT NULL
  GROUP BY s.op_name, s.op_type
)

SELECT s.id AS slice_id, s.track_id, k.name AS track, s.ts_ps, s.dur_ps, s.name
FROM slice AS s
INNER JOIN track AS k ON k.id = s.track_id
LEFT JOIN ran AS r ON r.host_name = s.name
WHERE
  s.source_id = $source_id
  AND r.host_name IS NULL
  AND s.op_type IS NULL
  AND COALESCE(k.name, '') <> 'python'
  AND s.name LIKE '%_:_%'
  AND s.name NOT LIKE '%::%'
  AND s.name NOT LIKE '%Dataset'
  AND s.name NOT LIKE '%Send'
  AND s.name NOT LIKE '%Recv'
  AND s.ts_ps + s.dur_ps <= $until_ps
ORDER BY nulls_last!(s.ts_ps, s.id)

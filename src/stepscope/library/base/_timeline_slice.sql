-- Slices on one axis of time
--
-- question: Where does each slice lie when all sources share one axis of time?
-- reads: slice, _source_shift
-- columns:
--   track | int | Track | number of the track
--   depth | int | Depth | 0 for a slice without a parent
--   id | int | Slice | number of the slice
--   ts_ps | ps | Start | start on the axis
--   dur_ps | ps | Duration | duration with children
--   name | text | Name | name of the slice
--   op_type | text | Op type | type of the op, where known
WITH placed AS (
  SELECT
    s.track_id AS track,
    columns!(s, depth, id),
    s.ts_ps + f.shift_ps AS begin_ps,
    columns!(s, dur_ps, name, op_type)
  FROM slice AS s
  INNER JOIN _source_shift AS f ON f.source_id = s.source_id
)

SELECT p.track, p.depth, p.id, p.begin_ps AS ts_ps, p.dur_ps, p.name, p.op_type
FROM placed AS p

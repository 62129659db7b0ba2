-- Where does each slice lie when all sources share one axis of time?
--
-- reads: slice, _source_shift
-- columns:
--   track | int | number of the track
--   depth, id
--   ts_ps | ps | start on the axis
--   dur_ps, name, op_type
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

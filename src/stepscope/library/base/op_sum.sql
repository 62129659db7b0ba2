-- Op slices added up
--
-- question: How often and how long did each op run on each device?
-- reads: _device_op, track_place, _drawn_source
-- notes: What a recorder drew that knows no ops computes nothing for certain: its class is other.
-- columns:
--   run_id, host_id, source_id
--   place | text | Place | device, host or launch, as in track_place
--   device | text | Device | device it ran on or was launched from
--   device_kind | text | Device kind | cpu, gpu, tpu or unknown
--   op | text | Op | name of the op
--   op_type | text | Op type | type of the op
--   class | text | Class | compute, copy, communication, compile, python, dispatch, input, wait or other
--   slices | int | Slices | how many
--   sum_dur_ps | ps | Total | their durations with children, added up
--   sum_self_ps | ps | Self | their self times, as in op_slice, added up
--   input_self_ps | ps | For the input | the part of them that is work of the input pipeline
--   min_dur_ps | ps | Shortest | shortest duration
--   max_dur_ps | ps | Longest | longest duration
WITH classed AS (
  SELECT
    columns!(p, run_id, host_id, source_id, place, device),
    columns!(o, device_kind, op, op_type),
    certain_class!(o.class, d.source_id) AS certain_class,
    columns!(o, slices, sum_dur_ps, sum_self_ps, input_self_ps, min_dur_ps, max_dur_ps)
  FROM _device_op AS o
  INNER JOIN track_place AS p ON p.track_id = o.device_track_id
  LEFT JOIN _drawn_source AS d ON d.source_id = p.source_id
)

SELECT
  columns!(c, run_id, host_id, source_id, place, device),
  columns!(c, device_kind, op, op_type),
  c.certain_class AS class,
  columns!(c, slices, sum_dur_ps, sum_self_ps, input_self_ps, min_dur_ps, max_dur_ps)
FROM classed AS c

-- Op slices added up
--
-- question: How often and how long did each op run on each device?
-- reads: op_slice
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   place | text | Place | device, host or launch, as in track_place
--   device | text | Device | device it ran on or was launched from
--   device_kind | text | Device kind | cpu, gpu, tpu or unknown
--   op | text | Op | name of the op
--   op_type | text | Op type | type of the op
--   class | text | Class | compute, copy, collective, compile, python or wait
--   slices | int | Slices | how many
--   sum_dur_ps | ps | Total | their durations with children, added up
--   sum_self_ps | ps | Self | their self times, added up
--   min_dur_ps | ps | Shortest | shortest duration
--   max_dur_ps | ps | Longest | longest duration
SELECT
  o.run_id,
  o.host_id,
  o.source_id,
  o.place,
  o.device,
  o.device_kind,
  o.op,
  o.op_type,
  o.class,
  COUNT(*) AS slices,
  CAST(SUM(o.dur_ps) AS BIGINT) AS sum_dur_ps,
  CAST(SUM(o.self_ps) AS BIGINT) AS sum_self_ps,
  MIN(o.dur_ps) AS min_dur_ps,
  MAX(o.dur_ps) AS max_dur_ps
FROM op_slice AS o
GROUP BY o.run_id, o.host_id, o.source_id, o.place, o.device, o.device_kind, o.op, o.op_type, o.class

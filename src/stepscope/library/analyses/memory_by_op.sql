-- Memory by op
--
-- question: Which ops ask for memory, and which still hold it after they are done?
-- reads: op_run
-- notes: As StepStats records it: temporary and persistent memory, outputs, and what an allocator still
--   held after the op. Figures of several executions are added up, except the peak, which is the largest.
-- weakened_by: lost, capped, truncated
-- chart: bar x=op y=all_output_bytes
-- columns:
--   op | text | Op | node name
--   op_type | text | Op type | type of the op
--   runs | int | Runs | executions
--   all_output_bytes | bytes | Outputs | requested size of the outputs
--   all_temp_bytes | bytes | Temporary | temporary memory
--   all_persistent_bytes | bytes | Persistent | persistent memory
--   highest_bytes | bytes | Peak | most held at once by one execution
--   all_live_bytes | bytes | Still held | held after the op
SELECT
  r.op_name AS op,
  r.op_type,
  COUNT(*) AS runs,
  sum!(COALESCE(r.output_bytes, 0)) AS all_output_bytes,
  sum!(COALESCE(r.temp_bytes, 0)) AS all_temp_bytes,
  sum!(COALESCE(r.persistent_bytes, 0)) AS all_persistent_bytes,
  MAX(COALESCE(r.peak_bytes, 0)) AS highest_bytes,
  sum!(COALESCE(r.live_bytes, 0)) AS all_live_bytes
FROM op_run AS r
GROUP BY r.op_name, r.op_type
ORDER BY nulls_last!(all_output_bytes DESC, op, r.op_type)

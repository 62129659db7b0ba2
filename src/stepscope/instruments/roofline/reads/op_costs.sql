-- Costs of ops
--
-- question: What do the ops of a recording cost, and what could their devices do in that time?
-- reads: op_cost
-- columns:
--   run_id, host_id, source_id
--   device | text | device that ran them
--   op_name | text | op
--   op_type | text | instruction, or the op
--   shapes | text | shapes of its inputs, or what it makes
--   file | text | file of the line that made it
--   line | int | that line
--   executions | int | how often it ran
--   self_ps | ps | time on the device
--   counted_by | text | what operations and bytes are from
--   flops | float | operations
--   bytes | float | bytes
--   number_type | text | type of the numbers that it multiplies
--   peak_flops | float | operations of a second that the device does at most
--   peak_bytes | float | bytes of a second that its memory moves at most
--   peaks_by | text | what tells the peaks
--   bound | text | compute or memory
--   least_ps | ps | least time that the device needs
--   problem | text | why something is unknown
SELECT
  columns!(c,
    run_id, host_id, source_id, device, op_name, op_type, shapes, file, line, executions, self_ps, counted_by, flops,
    bytes, number_type, peak_flops, peak_bytes, peaks_by, bound, least_ps, problem
  )
FROM op_cost AS c
ORDER BY c.id NULLS LAST

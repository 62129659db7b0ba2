-- What do the ops of a recording cost, and what could their devices do in that time?
--
-- reads: op_cost
-- columns:
--   run_id, host_id, source_id, device, op_name, op_type, shapes, file, line, executions, self_ps, counted_by, flops
--   bytes, number_type, peak_flops, peak_bytes, peaks_by, bound, least_ps, problem
SELECT
  columns!(c,
    run_id, host_id, source_id, device, op_name, op_type, shapes, file, line, executions, self_ps, counted_by, flops,
    bytes, number_type, peak_flops, peak_bytes, peaks_by, bound, least_ps, problem
  )
FROM op_cost AS c
ORDER BY c.id NULLS LAST

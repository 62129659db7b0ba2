-- How long did the kernels run that executions of each op launched while steps ran?
--
-- reads: _launched_kernel
-- notes: Where the sizes of an op's inputs are recorded, each execution that has its own text of them is a row.
-- columns:
--   run_id, host_id, source_id, device, op, shapes_json
--   alike_id | int | number of the row within its device, as in the statement kernels_in_calls; NULL without an op
--   device_track_id, kernel, in_parts
--   executions_sum | int | executions of the op, or kernels
--   took_sum | ps | what their kernels took
SELECT
  columns!(k, run_id, host_id, source_id, device, op, shapes_json),
  MIN(k.launched_from) AS alike_id,
  columns!(k, device_track_id, kernel, in_parts),
  sum!(k.executions) AS executions_sum,
  sum!(k.took_ps) AS took_sum
FROM _launched_kernel AS k
GROUP BY columns!(k, run_id, host_id, source_id, device_track_id, device, op, shapes_json, kernel, in_parts)
ORDER BY nulls_last!(k.source_id, k.device_track_id, alike_id, k.kernel)

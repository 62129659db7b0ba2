-- How long do the ops of each host compute, on devices and on its processors?
--
-- reads: _computing_op
-- notes: Ops of the input pipeline are left out, and calls of functions, whose ops are there by themselves.
-- columns:
--   run_id, host_id, place, op_type, op_name, name, class
--   own_ps | ps | their own time
--   runs | int | how many slices
SELECT
  columns!(r, run_id, host_id, place, op_type, op_name, name, class),
  sum!(r.kind_ps) AS own_ps,
  sum!(r.slices) AS runs
FROM _computing_op AS r
GROUP BY columns!(r, run_id, host_id, place, op_type, op_name, name, class)
ORDER BY nulls_last!(r.run_id, r.host_id, r.place, r.op_type, r.op_name, r.name, r.class)

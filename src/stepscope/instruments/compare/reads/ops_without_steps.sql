-- How long and how often does each op of a run take, steps or not?
--
-- reads: op_slice
-- notes: Ops on devices and processors; launches do not count.
-- parameters: run_id, host_ids
-- columns:
--   place, op, op_type, class
--   slice_count | int | executions
--   own_ps | ps | their own time
--   offset_ps | ps | earliest start, from the capture's origin
SELECT
  columns!(o, place, op, op_type, class),
  COUNT(*) AS slice_count,
  sum!(o.self_ps) AS own_ps,
  MIN(o.ts_ps) AS offset_ps
FROM op_slice AS o
WHERE o.run_id = $run_id AND o.host_id IN $host_ids AND o.place IN ('device', 'host')
GROUP BY columns!(o, place, op, op_type, class)
ORDER BY nulls_last!(own_ps DESC, o.place, o.op, o.op_type, o.class)

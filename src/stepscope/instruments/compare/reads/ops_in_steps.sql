-- How long and how often does each op of a run take within its steps?
--
-- reads: op_slice, step
-- notes: An op belongs to the step in which it starts. Ops on devices and processors; launches do not count.
-- parameters: run_id, host_ids
--   whole | int | 1: all steps; 0: only those that averages include
-- columns:
--   place, op, op_type, class
--   slice_count | int | executions
--   own_ps | ps | their own time
--   offset_ps | ps | earliest start, from the start of its step
SELECT
  columns!(o, place, op, op_type, class),
  COUNT(*) AS slice_count,
  sum!(o.self_ps) AS own_ps,
  MIN(o.ts_ps - s.ts_ps) AS offset_ps
FROM op_slice AS o
INNER JOIN step AS s ON s.source_id = o.source_id AND s.step = o.step
WHERE compared_op!(o, s)
GROUP BY columns!(o, place, op, op_type, class)
ORDER BY nulls_last!(own_ps DESC, o.place, o.op, o.op_type, o.class)

-- How long does each op of a run take in each of its steps?
--
-- reads: op_slice, step
-- notes: Ops that take less than 1 in 5,000 of the time of all ops are left out.
-- parameters: run_id, host_ids
--   whole | int | 1: all steps; 0: only those that averages include
-- columns:
--   step_id | int | number of the step
--   place, op, op_type
--   slice_count | int | executions in the step
--   own_ps | ps | their own time in the step
WITH stepped AS (
  SELECT
    s.id AS step_id,
    columns!(o, place, op, op_type),
    COUNT(*) AS slice_count,
    sum!(o.self_ps) AS own_ps,
    SUM(SUM(o.self_ps)) OVER (PARTITION BY o.place, o.op, o.op_type) AS op_ps,
    SUM(SUM(o.self_ps)) OVER () AS all_ps
  FROM op_slice AS o
  INNER JOIN step AS s ON s.source_id = o.source_id AND s.step = o.step
  WHERE compared_op!(o, s)
  GROUP BY s.id, o.place, o.op, o.op_type
)

SELECT w.step_id, w.place, w.op, w.op_type, w.slice_count, w.own_ps
FROM stepped AS w
WHERE CAST(w.op_ps AS DOUBLE) * 5000.0 >= CAST(w.all_ps AS DOUBLE)
ORDER BY nulls_last!(w.step_id, w.place, w.op, w.op_type)

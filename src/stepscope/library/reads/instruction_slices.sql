-- How often and how long did each instruction of XLA run, by place and by the name of its slices?
--
-- reads: _instruction_slice, op_slice, step_window
-- notes: The self time is that of op_slice, so that all views agree. Executions without a number of
--   their own have run_id -1 in TensorFlow. What computes in steps is without copies, communication and waits, and
--   without what ran before the first step or after the last one; launches stay, as they tell how often a program ran.
-- parameters:
--   computing | int | 1 for what computes in steps, 0 for all
-- columns:
--   source_id
--   place | text | device, host or launch, as in op_slice; none for rows that repeat others
--   device | text | device it ran on, or was launched from
--   hlo_module, program_id
--   numbered | bool | true when each execution of the program has a number of its own
--   op_name, name
--   slices | int | how many
--   sum_dur_ps | ps | their durations with children, added up
--   sum_self_ps | ps | their self times, added up; of what computes in steps by the device's own clock, where that
--     tells them of instructions that have none within
WITH placed AS (
  SELECT
    n.source_id,
    COALESCE(o.place, 'none') AS stands,
    COALESCE(o.device, n.process) AS ran_on,
    columns!(n, hlo_module, program_id),
    COALESCE(n.execution, '-1') <> '-1' AS numbered,
    columns!(n, op_name, name, dur_ps),
    CASE
      WHEN $computing = 1 AND o.self_ps = n.dur_ps THEN COALESCE(n.device_ps, o.self_ps)
      ELSE COALESCE(o.self_ps, n.self_ps)
    END AS own_ps
  FROM _instruction_slice AS n
  LEFT JOIN op_slice AS o ON o.slice_id = n.slice_id
  LEFT JOIN step_window AS w ON w.source_id = n.source_id
  WHERE
    $computing = 0
    OR (o.ts_ps >= w.open_ps AND o.ts_ps < w.close_ps AND (o.class = 'compute' OR o.place = 'launch'))
)

SELECT
  p.source_id,
  p.stands AS place,
  p.ran_on AS device,
  columns!(p, hlo_module, program_id, numbered, op_name, name),
  COUNT(*) AS slices,
  sum!(p.dur_ps) AS sum_dur_ps,
  sum!(p.own_ps) AS sum_self_ps
FROM placed AS p
GROUP BY columns!(p, source_id, stands, ran_on, hlo_module, program_id, numbered, op_name, name)
ORDER BY nulls_last!(p.source_id, place, device, p.hlo_module, p.program_id, p.numbered, p.op_name, p.name)

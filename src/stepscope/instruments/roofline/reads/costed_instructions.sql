-- Instructions of XLA that compute while steps run
--
-- question: How often and how long did each instruction of XLA compute while steps ran, by place and name of its slices?
-- reads: _instruction_slice, op_slice, step_window
-- notes: As the statement instruction_slices, without copies, communication and waits, and without what ran before the
--   first step or after the last one. Launches stay: they tell how often a program ran.
-- columns:
--   source_id
--   place | text | device, host or launch, as in op_slice
--   device | text | device it ran on, or was launched from
--   hlo_module | text | module that the slices name
--   program_id | text | program that the slices name
--   numbered | bool | true when each execution of the program has a number of its own
--   op_name | text | instruction that the slices name
--   name | text | name of the slices, on a GPU that of the kernel
--   slices | int | how many
--   sum_dur_ps | ps | their durations with children, added up
--   sum_self_ps | ps | their self times, added up; by the device's own clock where it tells them of instructions that
--     have none within
WITH placed AS (
  SELECT
    n.source_id,
    o.place,
    o.device,
    n.hlo_module,
    n.program_id,
    COALESCE(n.execution, '-1') <> '-1' AS numbered,
    columns!(n, op_name, name, dur_ps),
    CASE WHEN o.self_ps = n.dur_ps THEN COALESCE(n.device_ps, o.self_ps) ELSE o.self_ps END AS own_ps
  FROM _instruction_slice AS n
  INNER JOIN op_slice AS o ON o.slice_id = n.slice_id
  INNER JOIN step_window AS w ON w.source_id = n.source_id
  WHERE o.ts_ps >= w.open_ps AND o.ts_ps < w.close_ps AND (o.class = 'compute' OR o.place = 'launch')
)

SELECT
  columns!(p, source_id, place, device, hlo_module, program_id, numbered, op_name, name),
  COUNT(*) AS slices,
  sum!(p.dur_ps) AS sum_dur_ps,
  sum!(p.own_ps) AS sum_self_ps
FROM placed AS p
GROUP BY columns!(p, source_id, place, device, hlo_module, program_id, numbered, op_name, name)
ORDER BY nulls_last!(p.source_id, p.place, p.device, p.hlo_module, p.program_id, p.numbered, p.op_name, p.name)

-- When and on which thread ran each instruction of some modules, whose executions have no numbers?
--
-- reads: slice, op_slice
-- notes: CpuExecutable is the execution of a program of TensorFlow. Its instructions run on its thread and on
--   others, but all within its time.
-- parameters:
--   modules | texts | modules to look at
-- columns:
--   source_id, track_id, ts_ps, dur_ps, self_ps
--   hlo_module | text | module that it names; NULL for an execution
--   instruction | text | instruction that it names
--   name
--   place | text | device, host or launch, as in op_slice
--   device | text | device it ran on
WITH named AS (
  SELECT
    columns!(s, id, source_id, track_id, ts_ps, dur_ps),
    s.op_name AS instruction,
    s.name,
    arg!(s.args_json, hlo_module) AS hlo_module
  FROM slice AS s
  WHERE s.args_json LIKE '%"hlo_op"%'
)

SELECT
  columns!(n, source_id, track_id, ts_ps, dur_ps),
  o.self_ps,
  columns!(n, hlo_module, instruction, name),
  columns!(o, place, device)
FROM named AS n
INNER JOIN op_slice AS o ON o.slice_id = n.id
WHERE n.hlo_module IN $modules AND n.instruction IS NOT NULL
UNION ALL
SELECT
  columns!(s, source_id, track_id, ts_ps, dur_ps, self_ps),
  NULL AS hlo_module,
  NULL AS instruction,
  s.name,
  NULL AS place,
  NULL AS device
FROM slice AS s
WHERE s.name LIKE 'CpuExecutable::Execute%'
ORDER BY nulls_last!(source_id, ts_ps, dur_ps DESC, track_id, instruction)

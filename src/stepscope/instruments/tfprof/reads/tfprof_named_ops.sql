-- How often did each named op run, where, and for how long?
--
-- reads: op_slice, slice, track
-- parameters:
--   walked | ints | threads whose ops are counted elsewhere
-- columns:
--   source_id, process, place, device, step, op_name, op_type
--   hlo_module | text | module of an instruction of XLA
--   program_id | text | program of an instruction of XLA
--   event | text | name of the slices
--   runs | int | how many there are
--   own_ps | ps | their self times
--   start_ps | ps | start of the first one
WITH named AS (
  SELECT
    columns!(a, id, op_name),
    a.name AS event,
    t.process,
    CASE
      WHEN a.args_json LIKE '%"hlo_module"%' THEN arg!(a.args_json, hlo_module)
    END AS hlo_module,
    CASE
      WHEN a.args_json LIKE '%"program_id"%' THEN arg!(a.args_json, program_id)
    END AS program_id
  FROM slice AS a
  INNER JOIN track AS t ON t.id = a.track_id
  WHERE a.op_name IS NOT NULL
)

SELECT
  o.source_id,
  n.process,
  columns!(o, place, device, step),
  n.op_name,
  o.op_type,
  columns!(n, hlo_module, program_id, event),
  COUNT(*) AS runs,
  sum!(o.self_ps) AS own_ps,
  MIN(o.ts_ps) AS start_ps
FROM op_slice AS o
INNER JOIN named AS n ON n.id = o.slice_id
WHERE o.track_id NOT IN $walked
GROUP BY
  o.source_id, n.process, o.place, o.device, o.step, n.op_name, o.op_type, n.hlo_module, n.program_id, n.event
ORDER BY nulls_last!(
  o.source_id, n.process, o.place, o.device, o.step, n.op_name, o.op_type, n.hlo_module, n.program_id, n.event
)

-- Which slices are runs of an instruction of XLA, and of which program?
--
-- reads: slice, track, instant
-- notes: A slice is of an instruction when it says hlo_op, or when the metadata of its kind says hlo_category,
--   as on a TPU.
-- columns:
--   slice_id | int | number of the slice
--   source_id, process, op_name, name, dur_ps, self_ps
--   device_ps | ps | its duration by the device's own clock, where the recording has it: on the common
--     timeline, a TPU's instructions are shortened, some to nothing, where a wait before them ends late
--   hlo_module | text | module that it names
--   program_id | text | program that it names
--   execution | text | number of the execution that it names
WITH kinds AS (
  SELECT
    i.source_id,
    t.process,
    i.name,
    MAX(arg!(i.args_json, program_id)) AS program
  FROM instant AS i
  INNER JOIN track AS t ON t.id = i.track_id
  WHERE i.category = 'event_metadata' AND i.args_json LIKE '%"hlo_category"%'
  GROUP BY i.source_id, t.process, i.name
)

SELECT
  s.id AS slice_id,
  s.source_id,
  t.process,
  columns!(s, op_name, name, dur_ps, self_ps),
  CASE
    WHEN s.args_json LIKE '%"device_duration_ps"%'
      THEN TRY_CAST(arg!(s.args_json, device_duration_ps) AS BIGINT)
  END AS device_ps,
  CASE
    WHEN s.args_json LIKE '%"hlo_module"%' THEN arg!(s.args_json, hlo_module)
  END AS hlo_module,
  CASE
    WHEN s.args_json LIKE '%"program_id"%' THEN arg!(s.args_json, program_id)
    ELSE k.program
  END AS program_id,
  CASE WHEN s.args_json LIKE '%"run_id"%' THEN arg!(s.args_json, run_id) END AS execution
FROM slice AS s
INNER JOIN track AS t ON t.id = s.track_id
LEFT JOIN kinds AS k ON k.source_id = s.source_id AND k.process = t.process AND k.name = s.name
WHERE s.op_name IS NOT NULL AND (s.args_json LIKE '%"hlo_op"%' OR k.name IS NOT NULL)

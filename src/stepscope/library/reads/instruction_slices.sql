-- Slices of instructions that XLA compiled, added up
--
-- question: How often and how long did each instruction of XLA run, by place and by the name of its slices?
-- reads: slice, track, op_slice, instant
-- notes: A slice is of an instruction when it says hlo_op, or when the metadata of its kind says hlo_category,
--   as on a TPU. The self time is that of op_slice, so that all views agree. Executions without a number of
--   their own have run_id -1 in TensorFlow.
-- columns:
--   source_id | int | source it was read from
--   place | text | device, host or launch, as in op_slice; none for rows that repeat others
--   device | text | device it ran on, or was launched from
--   hlo_module | text | module that the slices name
--   program_id | text | program that the slices name
--   numbered | bool | true when each execution of the program has a number of its own
--   op_name | text | instruction that the slices name
--   name | text | name of the slices, on a GPU that of the kernel
--   slices | int | how many
--   sum_dur_ps | ps | their durations with children, added up
--   sum_self_ps | ps | their self times, added up
WITH kinds AS (
  SELECT
    i.source_id,
    t.process,
    i.name,
    MAX(NULLIF(JSON_EXTRACT_STRING(i.args_json, '$.program_id'), '')) AS program
  FROM instant AS i
  INNER JOIN track AS t ON t.id = i.track_id
  WHERE i.category = 'event_metadata' AND i.args_json LIKE '%"hlo_category"%'
  GROUP BY i.source_id, t.process, i.name
),

named AS (
  SELECT
    s.id,
    s.source_id,
    t.process,
    s.op_name,
    s.name,
    s.dur_ps,
    s.self_ps,
    CASE
      WHEN s.args_json LIKE '%"hlo_module"%' THEN NULLIF(JSON_EXTRACT_STRING(s.args_json, '$.hlo_module'), '')
    END AS hlo_module,
    CASE
      WHEN s.args_json LIKE '%"program_id"%' THEN NULLIF(JSON_EXTRACT_STRING(s.args_json, '$.program_id'), '')
      ELSE k.program
    END AS program_id,
    CASE
      WHEN s.args_json LIKE '%"run_id"%' THEN NULLIF(JSON_EXTRACT_STRING(s.args_json, '$.run_id'), '')
    END AS execution
  FROM slice AS s
  INNER JOIN track AS t ON t.id = s.track_id
  LEFT JOIN kinds AS k ON k.source_id = s.source_id AND k.process = t.process AND k.name = s.name
  WHERE s.op_name IS NOT NULL AND (s.args_json LIKE '%"hlo_op"%' OR k.name IS NOT NULL)
),

placed AS (
  SELECT
    n.source_id,
    COALESCE(o.place, 'none') AS stands,
    COALESCE(o.device, n.process) AS ran_on,
    n.hlo_module,
    n.program_id,
    COALESCE(n.execution, '-1') <> '-1' AS numbered,
    n.op_name,
    n.name,
    n.dur_ps,
    COALESCE(o.self_ps, n.self_ps) AS own_ps
  FROM named AS n
  LEFT JOIN op_slice AS o ON o.slice_id = n.id
)

SELECT
  p.source_id,
  p.stands AS place,
  p.ran_on AS device,
  p.hlo_module,
  p.program_id,
  p.numbered,
  p.op_name,
  p.name,
  COUNT(*) AS slices,
  CAST(SUM(p.dur_ps) AS BIGINT) AS sum_dur_ps,
  CAST(SUM(p.own_ps) AS BIGINT) AS sum_self_ps
FROM placed AS p
GROUP BY p.source_id, p.stands, p.ran_on, p.hlo_module, p.program_id, p.numbered, p.op_name, p.name
ORDER BY
  p.source_id NULLS LAST, place NULLS LAST, device NULLS LAST, p.hlo_module NULLS LAST,
  p.program_id NULLS LAST, p.numbered NULLS LAST, p.op_name NULLS LAST, p.name NULLS LAST

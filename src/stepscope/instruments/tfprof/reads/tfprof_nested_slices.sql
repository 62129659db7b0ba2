-- Slices around and in ops
--
-- question: What lies around each op of some threads, in the order in which it nests?
-- reads: _nested_slice, step
-- parameters:
--   tracks | ints | threads to look at
-- columns:
--   source_id | int | source it was read from
--   track_id | int | its thread
--   depth | int | 0 for a slice without a parent
--   ts_ps | ps | start
--   dur_ps | ps | duration
--   name | text | name as found
--   stands_for | text | op, frame (a Python call), mark (an annotation) or launch
--   op_name | text | name of the op, where the slice has it
--   op_type | text | type of the op
--   device | text | device of the thread
--   step | int | step during which it started
--   self_ps | ps | duration without what lies on top of it
--   correlation_id | int | what it launched
--   hlo_module | text | module of an instruction of XLA
--   stack_args | text | its values, as a JSON object, where a call stack is among them
WITH steps AS (
  SELECT n.name
  FROM step AS n
  GROUP BY n.name
),

marked AS (
  SELECT
    s.source_id, s.track_id, s.depth, s.id, s.ts_ps, s.dur_ps, s.name, s.op_name, s.op_type, s.device, s.step,
    s.own_ps AS self_ps, s.correlation_id, s.args_json,
    CASE
      WHEN s.is_op THEN 'op'
      WHEN s.is_frame THEN 'frame'
      WHEN s.category = 'user_annotation' AND s.name NOT LIKE 'ProfilerStep#%' AND n.name IS NULL THEN 'mark'
      WHEN s.correlation_id IS NOT NULL THEN 'launch'
    END AS stands_for
  FROM _nested_slice AS s
  LEFT JOIN steps AS n ON n.name = s.name
  WHERE s.track_id IN $tracks
)

SELECT
  m.source_id,
  m.track_id,
  m.depth,
  m.ts_ps,
  m.dur_ps,
  m.name,
  m.stands_for,
  m.op_name,
  m.op_type,
  m.device,
  m.step,
  m.self_ps,
  m.correlation_id,
  CASE
    WHEN m.args_json LIKE '%"hlo_module"%' THEN NULLIF(JSON_EXTRACT_STRING(m.args_json, '$.hlo_module'), '')
  END AS hlo_module,
  CASE
    WHEN m.args_json LIKE '%"Call stack":"%' AND m.args_json NOT LIKE '%"Call stack":""%' THEN m.args_json
  END AS stack_args
FROM marked AS m
WHERE m.stands_for IS NOT NULL
ORDER BY
  m.source_id NULLS LAST, m.track_id NULLS LAST, m.ts_ps NULLS LAST, m.depth NULLS LAST, m.id NULLS LAST

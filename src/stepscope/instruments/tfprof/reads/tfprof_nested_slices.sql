-- What lies around each op of some threads, in the order in which it nests?
--
-- reads: slice, _nested_kind
-- notes: tfprof_nested_kinds says what each is; those that are nothing to ops may be among them.
-- parameters:
--   tracks | ints | threads to look at
-- columns:
--   track_id, depth, ts_ps, dur_ps, rollup_id, step
--   own_ps | ps | duration without what lies on top of it
--   correlation_id
--   hlo_module | text | module of an instruction of XLA
--   stack_args | text | its values, as a JSON object, where a call stack is among them
SELECT
  columns!(s, track_id, depth, ts_ps, dur_ps, rollup_id, step),
  COALESCE(s.op_self_ps, s.self_ps) AS own_ps,
  s.correlation_id,
  CASE
    WHEN s.args_json LIKE '%"hlo_module"%' THEN arg!(s.args_json, hlo_module)
  END AS hlo_module,
  CASE
    WHEN s.args_json LIKE '%"Call stack":"%' AND s.args_json NOT LIKE '%"Call stack":""%' THEN s.args_json
  END AS stack_args
FROM slice AS s
INNER JOIN _nested_kind AS k ON k.rollup_id = s.rollup_id
WHERE
  s.track_id IN $tracks
  AND (k.is_op OR k.is_frame OR k.category = 'user_annotation' OR s.correlation_id IS NOT NULL)
ORDER BY nulls_last!(s.source_id, s.track_id, s.ts_ps, s.depth, s.id)

-- How long did the kernels run that each execution of an op launched while steps ran?
--
-- reads: slice, rollup_op, track_place, step_window, _launching_op
-- notes: Kernels that name an instruction of a compiled program are not among them. Of a recording whose steps are
--   recordings of their own, all count.
-- columns:
--   run_id, host_id, source_id, device_track_id, device
--   op | text | op that launched them; NULL where none is known
--   shapes_json | text | what was recorded of that op, where the sizes of its inputs are among it
--   launched_from, track_id
--   begin_ps | ps | start of that slice
--   length_ps | ps | its duration
--   kernel | text | kernel whose op is not known
--   in_parts | bool | true when a kernel of theirs multiplies 32-bit floats as TF32
--   executions | int | executions of the op, or kernels
--   took_ps | ps | what their kernels took
WITH kernels AS (
  SELECT
    columns!(s, run_id, host_id, source_id, correlation_id),
    columns!(p, device_track_id, device),
    r.name,
    CASE WHEN r.name LIKE '%tf32%' THEN 1 ELSE 0 END AS is_tf32,
    COALESCE(s.op_self_ps, s.self_ps) AS own_ps
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  INNER JOIN step_window AS w ON w.source_id = s.source_id
  WHERE
    p.place = 'device' AND r.is_op AND r.class = 'compute' AND r.op_name IS NULL
    AND s.ts_ps >= w.open_ps AND s.ts_ps < w.close_ps
),

told AS (
  SELECT
    columns!(k, run_id, host_id, source_id, device_track_id, device),
    l.launched_from,
    CASE WHEN l.launched_from IS NULL THEN k.name END AS kernel,
    k.is_tf32,
    k.own_ps
  FROM kernels AS k
  LEFT JOIN _launching_op AS l ON l.of_source = k.source_id AND l.of_correlation = k.correlation_id
),

launched AS (
  SELECT
    columns!(t, run_id, host_id, source_id, device_track_id, device, launched_from, kernel),
    MAX(t.is_tf32) AS any_tf32,
    COUNT(*) AS kernels,
    sum!(t.own_ps) AS took_ps
  FROM told AS t
  GROUP BY columns!(t, run_id, host_id, source_id, device_track_id, device, launched_from, kernel)
)

SELECT
  columns!(u, run_id, host_id, source_id, device_track_id, device),
  s.name AS op,
  CASE WHEN s.args_json LIKE '%"Input Dims"%' THEN s.args_json END AS shapes_json,
  u.launched_from,
  s.track_id,
  s.ts_ps AS begin_ps,
  s.dur_ps AS length_ps,
  u.kernel,
  u.any_tf32 = 1 AS in_parts,
  CASE WHEN u.launched_from IS NULL THEN u.kernels ELSE 1 END AS executions,
  u.took_ps
FROM launched AS u
LEFT JOIN slice AS s ON s.id = u.launched_from

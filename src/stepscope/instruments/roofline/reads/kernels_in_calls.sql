-- When did calls of Python that a recorder traced begin and end, and ops on the same threads that launched kernels?
--
-- reads: slice, _launched_kernel
-- notes: Outer slices come before those within them.
-- columns:
--   track_id
--   begin_ps | ps | start
--   end_ps | ps | end
--   call_id | int | row of rollup_op of a call; -1 for an op
--   alike_id | int | of an op: the row of the statement costed_kernels that it is added up in; -1 for a call
--   device_track_id | int | of an op: number of the device that ran its kernels; -1 for a call
--   took_ps | ps | what its kernels took; 0 for a call
WITH told AS (
  SELECT
    s.id AS slice_id,
    s.track_id,
    s.ts_ps,
    s.dur_ps,
    s.rollup_id AS of_call,
    CAST(-1 AS BIGINT) AS alike,
    CAST(-1 AS BIGINT) AS on_device,
    CAST(0 AS BIGINT) AS kernels_ps
  FROM slice AS s
  WHERE s.category = 'python_function'
  UNION ALL
  SELECT
    k.launched_from AS slice_id,
    k.track_id,
    k.begin_ps AS ts_ps,
    k.length_ps AS dur_ps,
    CAST(-1 AS BIGINT) AS of_call,
    MIN(k.launched_from) OVER (
      PARTITION BY k.source_id, k.device_track_id, k.op, k.shapes_json, k.in_parts
    ) AS alike,
    k.device_track_id AS on_device,
    k.took_ps AS kernels_ps
  FROM _launched_kernel AS k
  WHERE k.launched_from IS NOT NULL
)

SELECT
  t.track_id,
  t.ts_ps AS begin_ps,
  t.ts_ps + t.dur_ps AS end_ps,
  t.of_call AS call_id,
  t.alike AS alike_id,
  t.on_device AS device_track_id,
  t.kernels_ps AS took_ps
FROM told AS t
ORDER BY nulls_last!(t.track_id, t.ts_ps, t.dur_ps DESC, t.slice_id, t.on_device)

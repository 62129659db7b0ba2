-- Some calls of Python, and ops that launch kernels
--
-- question: When did some calls of Python begin and end, and ops that launch kernels on the same threads?
-- reads: slice, _launching_op
-- parameters:
--   rollups | ints | rows of rollup_op that the calls are added up in
-- columns:
--   track_id | int | track of the thread
--   begin_ps | ps | start
--   end_ps | ps | end
--   rollup_id | int | row of rollup_op of a call; NULL for an op
--   launched_from | int | slice of an op; NULL for a call
WITH launches AS (
  SELECT l.launched_from AS slice_id
  FROM _launching_op AS l
  GROUP BY l.launched_from
),

told AS (
  SELECT s.id, s.track_id, s.ts_ps, s.dur_ps, s.rollup_id AS of_call, CAST(NULL AS BIGINT) AS of_op
  FROM slice AS s
  WHERE s.rollup_id IN $rollups
  UNION ALL
  SELECT s.id, s.track_id, s.ts_ps, s.dur_ps, CAST(NULL AS BIGINT) AS of_call, s.id AS of_op
  FROM slice AS s
  INNER JOIN launches AS l ON l.slice_id = s.id
)

SELECT t.track_id, t.ts_ps AS begin_ps, t.ts_ps + t.dur_ps AS end_ps, t.of_call AS rollup_id, t.of_op AS launched_from
FROM told AS t
ORDER BY nulls_last!(t.track_id, t.ts_ps, t.dur_ps DESC, t.id)

-- Op types over steps
--
-- question: How does the time of each type of op change from step to step?
-- reads: op_slice, step
-- notes: The ten types with most self time over all steps. An op belongs to the step in which it
--   starts. Steps in which a type does not occur have no row.
-- weakened_by: lost, capped, truncated, missing
-- columns:
--   run_id, host_id, source_id
--   step | int | Step | number of the step
--   place | text | Place | device, host or launch, as in track_place
--   op_type | text | Op type | type of the op
--   slices | int | Count | slices in the step
--   self_ps | ps | Self | self times in the step, added up
WITH stepped AS (
  SELECT
    columns!(o, run_id, host_id, source_id, step, place, op_type),
    COUNT(*) AS number,
    SUM(o.self_ps) AS sum_self_ps
  FROM op_slice AS o
  WHERE o.step IS NOT NULL
  GROUP BY columns!(o, run_id, host_id, source_id, step, place, op_type)
),

types AS (
  SELECT
    columns!(t, place, op_type),
    ROW_NUMBER() OVER (
      ORDER BY nulls_last!(SUM(t.sum_self_ps) DESC, t.place, t.op_type)
    ) AS rank_of_type
  FROM stepped AS t
  GROUP BY t.place, t.op_type
)

SELECT
  columns!(t, run_id, host_id, source_id, step, place, op_type),
  t.number AS slices,
  CAST(t.sum_self_ps AS BIGINT) AS self_ps
FROM stepped AS t
INNER JOIN types AS y ON y.place = t.place AND y.op_type = t.op_type
INNER JOIN step AS s ON s.source_id = t.source_id AND s.step = t.step
WHERE y.rank_of_type <= 10
ORDER BY nulls_last!(t.source_id, s.ts_ps, y.rank_of_type, t.step)

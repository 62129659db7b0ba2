-- How long do the ops of each host take that its program calls one by one, with no slice of the op itself?
--
-- reads: rollup_op, track_place
-- notes: TensorFlow computes these within the call. Which of them compute, the rules say (stepscope docs classes).
-- columns:
--   run_id, host_id
--   name | text | the call
--   op_type | text | type of the op that it runs
--   is_product | int | 1 for products of matrices and convolutions
--   calls | int | how many
--   all_ps | ps | their durations, added up
WITH calls AS (
  SELECT
    columns!(r, run_id, host_id, name, slices, total_ps),
    REPLACE(r.name, 'EagerLocalExecute: ', '') AS kind
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.name LIKE 'EagerLocalExecute: %' AND NOT r.is_op AND p.place = 'host'
)

SELECT
  columns!(c, run_id, host_id, name),
  c.kind AS op_type,
  MAX(CASE WHEN product!(c.kind) THEN 1 ELSE 0 END) AS is_product,
  sum!(c.slices) AS calls,
  sum!(c.total_ps) AS all_ps
FROM calls AS c
GROUP BY columns!(c, run_id, host_id, name, kind)
ORDER BY nulls_last!(c.run_id, c.host_id, all_ps DESC, c.name)

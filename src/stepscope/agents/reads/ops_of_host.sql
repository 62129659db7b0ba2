-- How long do the types of op of a host take, and how often do they run?
--
-- reads: rollup_op, track_place
-- notes: Types with their executions on devices and processors; where a recording knows no types, names.
-- parameters: run_id, host_id
-- columns:
--   op_kind | text | type of the op, or the name of its slices
--   own_ps | ps | their own time
--   slice_count | int | executions
WITH ops AS (
  SELECT
    CASE WHEN r.op_type IS NULL THEN r.name ELSE r.op_type END AS op_kind,
    CASE WHEN r.op_self_ps IS NULL THEN r.self_ps ELSE r.op_self_ps END AS spent_ps,
    r.slices
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.run_id = $run_id AND r.host_id = $host_id AND r.is_op AND p.place IN ('device', 'host')
)

SELECT
  o.op_kind,
  sum!(o.spent_ps) AS own_ps,
  sum!(o.slices) AS slice_count
FROM ops AS o
GROUP BY o.op_kind
ORDER BY nulls_last!(own_ps DESC, o.op_kind)

-- How often and how long did each op run on each device, by the number of the device?
--
-- reads: rollup_op, track_place, _captured_op
-- notes: What op_sum is made of: names of runs, hosts and devices, which would be the same text in a million rows, are
--   numbers here.
-- columns:
--   device_track_id, device_kind
--   op | text | name of the op
--   op_type | text | type of the op
--   class
--   slices | int | how many
--   sum_dur_ps | ps | their durations with children, added up
--   sum_self_ps | ps | their self times, as in op_slice, added up
--   input_self_ps | ps | the part of them that is work of the input pipeline
--   min_dur_ps | ps | shortest duration
--   max_dur_ps | ps | longest duration
WITH captured AS (
  SELECT c.of_rollup, SUM(c.spent_ps) AS many_ps
  FROM _captured_op AS c
  GROUP BY c.of_rollup
),

named AS (
  SELECT
    columns!(p, device_track_id, device_kind),
    COALESCE(r.op_name, r.name) AS op,
    COALESCE(r.op_type, r.op_name, r.name) AS type_or_name,
    r.class,
    r.slices AS number,
    r.total_ps,
    r.op_self_ps AS own_ps,
    CASE WHEN r.layer = 'input work' THEN r.op_self_ps ELSE COALESCE(i.many_ps, 0) END AS feeding_ps,
    columns!(r, min_ps, max_ps)
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  LEFT JOIN captured AS i ON i.of_rollup = r.id
  WHERE r.is_op
)

SELECT
  columns!(n, device_track_id, device_kind, op),
  n.type_or_name AS op_type,
  n.class,
  sum!(n.number) AS slices,
  sum!(n.total_ps) AS sum_dur_ps,
  sum!(n.own_ps) AS sum_self_ps,
  sum!(n.feeding_ps) AS input_self_ps,
  MIN(n.min_ps) AS min_dur_ps,
  MAX(n.max_ps) AS max_dur_ps
FROM named AS n
GROUP BY columns!(n, device_track_id, device_kind, op, type_or_name, class)

-- How long do ops of each type run in runs that started the program up?
--
-- reads: op_sum, _started_source, _started_op, rollup_op, track_place
-- columns:
--   place, op_type
--   self_ps | ps | self times, added up, without work of the input pipeline
WITH spent AS (
  SELECT o.place, o.op_type AS named_type, o.sum_self_ps - o.input_self_ps AS part_ps
  FROM op_sum AS o
  INNER JOIN _started_source AS s ON s.started_source = o.source_id
  UNION ALL
  SELECT
    p.place,
    COALESCE(r.op_type, r.op_name, r.name) AS named_type,
    u.spent_ps AS part_ps
  FROM _started_op AS u
  INNER JOIN rollup_op AS r ON r.id = u.of_rollup
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.layer IS NULL OR r.layer <> 'input work'
)

SELECT
  s.place,
  s.named_type AS op_type,
  sum!(s.part_ps) AS self_ps
FROM spent AS s
GROUP BY s.place, s.named_type
ORDER BY nulls_last!(s.place, s.named_type)

-- How are the slices of a source called, and what are they?
--
-- reads: rollup_op, track_place
-- parameters: source_id
-- columns:
--   rollup_id | int | row of rollup_op
--   place, name, category
--   op | text | op they execute
--   op_type, class, wait, is_op
SELECT
  r.id AS rollup_id,
  p.place,
  columns!(r, name, category),
  r.op_name AS op,
  columns!(r, op_type, class, wait, is_op)
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id
WHERE r.source_id = $source_id
ORDER BY r.id NULLS LAST

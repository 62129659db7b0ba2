-- How slices of a source are called
--
-- question: How are the slices of a source called, and what are they?
-- reads: rollup_op, track_place
-- parameters:
--   source_id | int | source to look at
-- columns:
--   rollup_id | int | row of rollup_op
--   place | text | device, host, launch or none, as in track_place
--   name | text | name as found
--   category | text | category as found
--   op | text | op they execute
--   op_type | text | type of that op
--   class | text | compute, copy, communication, compile, python, dispatch, input or wait
--   wait | text | what is waited for; NULL when they do not wait
--   is_op | bool | they stand for ops
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

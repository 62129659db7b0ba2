-- Which names do the slices of some threads have?
--
-- reads: rollup_op
-- parameters:
--   tracks | ints | tracks of the threads
-- columns:
--   rollup_id | int | number of the row of rollup_op
--   name, category
--   names_op | bool | true when they name an op or its type
--   all_long | bool | true when there are ten or more, and each takes 200 µs or longer
SELECT
  r.id AS rollup_id,
  columns!(r, name, category),
  r.op_name IS NOT NULL OR r.op_type IS NOT NULL AS names_op,
  r.slices >= 10 AND r.min_ps >= 200000000 AS all_long
FROM rollup_op AS r
WHERE r.track_id IN $tracks
ORDER BY r.id NULLS LAST

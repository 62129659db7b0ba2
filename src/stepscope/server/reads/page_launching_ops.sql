-- Ops that launch what runs on devices
--
-- question: Which op of the program launched each kernel or copy, and how long did it run?
-- reads: op_slice, slice, _launching_op
-- notes: The rows with the largest self times first. Of what nothing is known to have launched, launcher is NULL.
-- parameters:
--   most | int | rows
-- columns:
--   run_id, host_id
--   place | text | device
--   device | text | device it ran on
--   op | text | name of the op
--   op_type | text | type of the op
--   launcher | text | name of the innermost op around the call that launched it
--   class | text | class of the op
--   slices | int | how many
--   total_ps | ps | durations with children, added up
--   own_ps | ps | self times, added up
--   min_ps | ps | shortest duration
--   max_ps | ps | longest duration
WITH launched AS (
  SELECT
    columns!(o, run_id, host_id, place, device, op, op_type),
    l.launched_by,
    columns!(o, class, dur_ps, self_ps)
  FROM op_slice AS o
  INNER JOIN slice AS s ON s.id = o.slice_id
  LEFT JOIN _launching_op AS l ON l.of_source = s.source_id AND l.of_correlation = s.correlation_id
  WHERE o.place = 'device'
)

SELECT
  columns!(k, run_id, host_id, place, device, op, op_type),
  k.launched_by AS launcher,
  k.class,
  COUNT(*) AS slices,
  sum!(k.dur_ps) AS total_ps,
  sum!(k.self_ps) AS own_ps,
  MIN(k.dur_ps) AS min_ps,
  MAX(k.dur_ps) AS max_ps
FROM launched AS k
GROUP BY columns!(k, run_id, host_id, place, device, op, op_type, launched_by, class)
ORDER BY nulls_last!(own_ps DESC, k.op, k.op_type, k.launched_by, k.run_id, k.host_id, k.place, k.device, k.class)
LIMIT $most

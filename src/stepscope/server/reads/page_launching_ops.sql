-- Which op of the program launched each kernel or copy, and how long did it run?
--
-- reads: op_slice, slice, _launching_op
-- notes: The rows with the largest self times first. Of what nothing is known to have launched, launcher is NULL.
-- parameters:
--   most | int | rows
-- columns:
--   run_id, host_id
--   place | text | device
--   device, op, op_type
--   launcher | text | name of the innermost op around the call that launched it
--   class
--   slices | int | how many
--   total_ps | ps | durations with children, added up
--   own_ps | ps | self times, added up
--   min_ps | ps | shortest duration
--   max_ps | ps | longest duration
SELECT
  columns!(o, run_id, host_id, place, device, op, op_type),
  l.launched_by AS launcher,
  o.class,
  COUNT(*) AS slices,
  sum!(o.dur_ps) AS total_ps,
  sum!(o.self_ps) AS own_ps,
  MIN(o.dur_ps) AS min_ps,
  MAX(o.dur_ps) AS max_ps
FROM op_slice AS o
INNER JOIN slice AS s ON s.id = o.slice_id
LEFT JOIN _launching_op AS l ON l.of_source = s.source_id AND l.of_correlation = s.correlation_id
WHERE o.place = 'device'
GROUP BY o.run_id, o.host_id, o.place, o.device, o.op, o.op_type, l.launched_by, o.class
ORDER BY nulls_last!(own_ps DESC, o.op, o.op_type, l.launched_by, o.run_id, o.host_id, o.place, o.device, o.class)
LIMIT $most

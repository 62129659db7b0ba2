-- How long do ops of each type run in files of runs that started the program up?
--
-- reads: op_sum, _started_source
-- columns:
--   place, op_type
--   self_ps | ps | self times, added up, without work of the input pipeline
SELECT
  columns!(o, place, op_type),
  sum!(o.sum_self_ps - o.input_self_ps) AS self_ps
FROM op_sum AS o
INNER JOIN _started_source AS s ON s.started_source = o.source_id
GROUP BY o.place, o.op_type
ORDER BY nulls_last!(o.place, o.op_type)

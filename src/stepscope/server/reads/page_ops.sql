-- How often and how long did each op run, on each device of each host?
--
-- reads: op_sum
-- notes: The rows of op_sum, those with the largest self times first, and what all of them hold together.
-- parameters:
--   most | int | rows
-- columns:
--   run_id, host_id, place, device, op, op_type
--   class | text | as in page_names: compute, copy, communication, compile, python, input, wait, dispatch or other
--   feeds | bool | whether most of its self time is work of the input pipeline
--   slices | int | how many
--   total_ps | ps | durations with children, added up
--   self_ps | ps | self times, added up
--   min_ps | ps | shortest duration
--   max_ps | ps | longest duration
--   rows_in_all | int | rows without the limit
--   self_in_all_ps | ps | self times of all of them, added up
WITH shown AS (
  SELECT
    columns!(o, run_id, host_id, place, device, op, op_type),
    CASE
      WHEN o.place = 'launch' AND o.class NOT IN ('compile', 'input', 'wait') THEN 'dispatch'
      ELSE o.class
    END AS page_class,
    columns!(o, slices, sum_dur_ps, sum_self_ps, input_self_ps, min_dur_ps, max_dur_ps)
  FROM op_sum AS o
),

sums AS (
  SELECT
    columns!(o, run_id, host_id, place, device, op, op_type, page_class),
    sum!(o.slices) AS number,
    bounded!(SUM(o.sum_dur_ps)) AS total_ps,
    sum!(o.sum_self_ps) AS self_ps,
    SUM(o.input_self_ps) * 2 > SUM(o.sum_self_ps) AS mostly_input,
    MIN(o.min_dur_ps) AS min_ps,
    MAX(o.max_dur_ps) AS max_ps
  FROM shown AS o
  GROUP BY columns!(o, run_id, host_id, place, device, op, op_type, page_class)
)

SELECT
  columns!(s, run_id, host_id, place, device, op, op_type),
  s.page_class AS class,
  COALESCE(s.mostly_input, FALSE) AS feeds,
  s.number AS slices,
  columns!(s, total_ps, self_ps, min_ps, max_ps),
  COUNT(*) OVER () AS rows_in_all,
  CAST(SUM(s.self_ps) OVER () AS BIGINT) AS self_in_all_ps
FROM sums AS s
ORDER BY nulls_last!(s.self_ps DESC, s.op, s.op_type, s.run_id, s.host_id, s.place, s.device, s.page_class)
LIMIT $most

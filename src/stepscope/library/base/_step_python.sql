-- What did Python do during the steps?
--
-- reads: python_time, step
-- notes: Where no sample lies in a step that averages include, all samples of that thread are here; and where
--   calls were traced instead, all of them.
-- columns:
--   run_id, host_id, told_by, step_id
--   seen | int | samples, or slices
--   spent_ps | ps | time of the thread there
--   on_cpu_ps | ps | processor time of it, where that is known
--   known_ps | ps | time of which the processor time is known
--   at_function | text | innermost function, with its class where Python says so
--   at_file | text | its file
--   module, code, place_function, place_file, place_line
WITH judged AS (
  SELECT
    columns!(t, run_id, host_id, told_by, step_id),
    t.samples AS seen,
    t.time_ps AS spent_ps,
    t.cpu_ps AS on_cpu_ps,
    CASE WHEN t.cpu_ps IS NULL THEN 0 ELSE t.time_ps END AS known_ps,
    t.function AS at_function,
    t.file AS at_file,
    columns!(t, module, code, place_function, place_file, place_line),
    CASE WHEN s.averaged THEN 1 ELSE 0 END AS counts
  FROM python_time AS t
  LEFT JOIN step AS s ON s.id = t.step_id
  WHERE t.told_by = 'slices' OR t.is_main
),

hosts AS (
  SELECT j.run_id AS of_run, j.host_id AS of_host, j.told_by AS of_kind, MAX(j.counts) AS any_counts
  FROM judged AS j
  GROUP BY j.run_id, j.host_id, j.told_by
)

SELECT
  columns!(j,
    run_id, host_id, told_by, step_id, seen, spent_ps, on_cpu_ps, known_ps, at_function, at_file, module,
    code, place_function, place_file, place_line
  )
FROM judged AS j
INNER JOIN hosts AS h ON h.of_run = j.run_id AND h.of_host = j.host_id AND h.of_kind = j.told_by
WHERE j.counts = h.any_counts

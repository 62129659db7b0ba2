-- Compilations by function, line and change
--
-- question: Which functions were traced or compiled, how often, called from where, and what was new about the calls?
-- reads: compilation, _moment_step
-- notes: One row for each function, line that called it, and kind of change; was and became are those of its last
--   call. The analysis compilations lists them and explains the changes.
-- columns:
--   run_id, host_id
--   function | text | Function | function that was traced or compiled
--   call_file | text | File | file of the program's line that called it
--   call_line | int | Line | that line
--   call_function | text | Called in | function that contains the line
--   change | text | Change | what was new: first, new_function, graph, value, shape, dtype, type, structure, function, object or unknown
--   argument | text | Argument | argument that was new, or variable that the new function holds
--   was | text | Was | what it was in the most similar call before
--   became | text | Became | what it was in the last call
--   times | int | Times | calls that traced or compiled
--   steps | int | Steps | steps in which they lie
--   total_ps | ps | Time | durations of these calls
--   file | text | Written in | file in which the function is written
--   line | int | At line | line at which it begins
WITH calls AS (
  SELECT
    columns!(c, id, run_id, host_id, function, file, line, call_file, call_line, call_function, change, argument),
    c.was AS old_value,
    c.became AS new_value,
    c.dur_ps,
    s.step_id,
    ROW_NUMBER() OVER (
      PARTITION BY
        c.run_id, c.host_id, c.function, c.file, c.line, c.call_file, c.call_line, c.call_function, c.change, c.argument
      ORDER BY nulls_last!(c.ts_ps DESC, c.id DESC)
    ) AS from_last
  FROM compilation AS c
  LEFT JOIN _moment_step AS s ON s.what = 'compilation' AND s.moment_id = c.id
)

SELECT
  columns!(c, run_id, host_id, function, call_file, call_line, call_function, change, argument),
  MAX(CASE WHEN c.from_last = 1 THEN c.old_value END) AS was,
  MAX(CASE WHEN c.from_last = 1 THEN c.new_value END) AS became,
  COUNT(*) AS times,
  COUNT(DISTINCT c.step_id) AS steps,
  sum!(c.dur_ps) AS total_ps,
  columns!(c, file, line)
FROM calls AS c
GROUP BY
  c.run_id, c.host_id, c.function, c.file, c.line, c.call_file, c.call_line, c.call_function, c.change, c.argument

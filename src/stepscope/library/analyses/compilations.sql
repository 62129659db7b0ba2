-- What is compiled again and again
--
-- question: Which functions were traced or compiled, how often, called from where, and what was new about the calls?
-- reads: compilation_sum
-- notes: As the recorder of `stepscope record` saw it, from the start of the program on. One row for each function,
--   line that called it, and kind of change; was and became are those of its last call. A value that changes is one
--   of Python's own, which is compiled in; new_function is a function object made anew, so that nothing compiled for
--   another fits; unknown means that nothing differs from an earlier call which compiled, as far as the recorder looks.
-- weakened_by: compilations-capped
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
SELECT
  columns!(c,
    run_id, host_id, function, call_file, call_line, call_function, change, argument, was, became, times, steps,
    total_ps, file, line
  )
FROM compilation_sum AS c
ORDER BY nulls_last!(
  c.total_ps DESC, c.run_id, c.host_id, c.function, c.file, c.line, c.call_file, c.call_line, c.call_function, c.change,
  c.argument
)

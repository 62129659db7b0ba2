-- Time by function
--
-- question: In which functions of Python does the main thread spend the steps?
-- reads: _step_python, _python_total
-- notes: The thread that runs the steps, in the steps that averages include. A function has the time in which it is
--   the innermost of the stack: what it calls in Python does not count to it, what it calls in C does.
-- weakened_by: lost, capped, truncated, stacks-capped
-- chart: bar x=function y=time_ps
-- columns:
--   run_id, host_id
--   told_by | text | From | samples of stacks, or slices of traced calls
--   function | text | Function | function, with its class where Python says so
--   file | text | File | its file
--   module | text | Module | its module
--   code | text | Code | whose code it is: program, library, python (the standard library), native or unknown
--   time_ps | ps | Time | time of the thread there; of slices, their own time
--   per_step_ps | ps | Per step | the same for a step in which samples lie; NULL without steps
--   share | ratio | Share | part of the time that was looked at
--   cpu_share | ratio | On a processor | processor time as part of it; the rest was waiting. NULL where not known
--   samples | int | Samples | samples, or slices
SELECT
  columns!(p, run_id, host_id, told_by),
  p.at_function AS function,
  p.at_file AS file,
  columns!(p, module, code),
  python_figures!(p, s)
FROM _step_python AS p
INNER JOIN _python_total AS s ON s.of_run = p.run_id AND s.of_host = p.host_id AND s.of_kind = p.told_by
GROUP BY columns!(p, run_id, host_id, told_by, at_function, at_file, module, code), s.number, s.all_ps
ORDER BY nulls_last!(time_ps DESC, p.run_id, p.host_id, p.told_by, p.at_function, p.at_file, p.module, p.code)

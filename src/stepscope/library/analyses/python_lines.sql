-- Time by line of the program
--
-- question: On which lines of the program does its main thread spend the steps?
-- reads: _step_python, _python_total
-- notes: The thread that runs the steps, in the steps that averages include. The line is the innermost of the
--   program's own code: what it calls in libraries counts to it, and what it calls in the program does not.
--   A recorder that traced calls does not tell the program's code from a library's: there, all calls are listed.
-- weakened_by: lost, capped, truncated, stacks-capped
-- chart: bar x=function y=time_ps
-- columns:
--   run_id, host_id
--   told_by | text | From | samples of stacks, or slices of traced calls
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line; of slices, the name as the recorder wrote it
--   time_ps | ps | Time | time of the thread there; of slices, their own time
--   per_step_ps | ps | Per step | the same for a step in which samples lie; NULL without steps
--   share | ratio | Share | part of the time that was looked at
--   cpu_share | ratio | On a processor | processor time as part of it; the rest was waiting. NULL where not known
--   samples | int | Samples | samples, or slices
SELECT
  columns!(p, run_id, host_id, told_by),
  p.place_file AS file,
  p.place_line AS line,
  p.place_function AS function,
  python_figures!(p, s)
FROM _step_python AS p
INNER JOIN _python_total AS s ON s.of_run = p.run_id AND s.of_host = p.host_id AND s.of_kind = p.told_by
WHERE p.place_function IS NOT NULL
GROUP BY columns!(p, run_id, host_id, told_by, place_file, place_line, place_function), s.number, s.all_ps
ORDER BY nulls_last!(time_ps DESC, p.run_id, p.host_id, p.told_by, p.place_file, p.place_line, p.place_function)

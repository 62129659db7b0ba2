-- Step parts by line of the program
--
-- question: On which lines of the program is the time that each part of a step takes?
-- reads: _stack_time, stack, frame
-- notes: The thread that runs the steps, in the steps that averages include, or in all where averages include none.
--   The line is the innermost of the program's own code: what it calls in libraries counts to it. Needs samples of
--   stacks; what they do not cover is missing, so the shares of a part may add up to less than 100 %.
-- weakened_by: lost, capped, truncated, stacks-capped
-- columns:
--   run_id | text | Run | run of the steps
--   host_id | text | Host | host of the steps
--   label | text | Part | part of the steps, as in step_parts: python, wait, dispatch, copy, …
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line
--   time_ps | ps | Time | time of the steps that counts to the part while the thread is there
--   per_step_ps | ps | Per step | the same for a mean step
--   part_share | ratio | Share of part | share of all time that counts to the part
--   share | ratio | Share of steps | share of the steps
SELECT
  columns!(t, run_id, host_id, label),
  columns!(f, file, line, function),
  stack_figures!(t)
FROM _stack_time AS t
INNER JOIN stack AS k ON k.id = t.stack_id
INNER JOIN frame AS f ON f.id = k.place_id
GROUP BY t.run_id, t.host_id, t.label, t.number, t.steps_ps, t.label_ps, f.file, f.line, f.function
ORDER BY nulls_last!(time_ps DESC, t.run_id, t.host_id, t.label, f.file, f.line, f.function)

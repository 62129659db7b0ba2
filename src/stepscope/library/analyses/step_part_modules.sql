-- Step parts by module
--
-- question: In which modules of Python is the time that each part of a step takes?
-- reads: _stack_time, stack, frame
-- notes: The thread that runs the steps, in the steps that averages include, or in all where averages include none.
--   A module has the time in which its code is the innermost of the stack. Needs samples of stacks; what they do not
--   cover is missing, so the shares of a part may add up to less than 100 %.
-- weakened_by: lost, capped, truncated, stacks-capped
-- chart: bar x=module y=time_ps
-- columns:
--   run_id | text | Run | run of the steps
--   host_id | text | Host | host of the steps
--   label | text | Part | part of the steps, as in step_parts: python, wait, dispatch, copy, …
--   module | text | Module | its module
--   code | text | Code | whose code it is: program, library, python (the standard library), native or unknown
--   time_ps | ps | Time | time of the steps that counts to the part while the thread is there
--   per_step_ps | ps | Per step | the same for a mean step
--   part_share | ratio | Share of part | share of all time that counts to the part
--   share | ratio | Share of steps | share of the steps
SELECT
  columns!(t, run_id, host_id, label),
  columns!(f, module, code),
  stack_figures!(t)
FROM _stack_time AS t
INNER JOIN stack AS k ON k.id = t.stack_id
INNER JOIN frame AS f ON f.id = k.frame_id
GROUP BY t.run_id, t.host_id, t.label, t.number, t.steps_ps, t.label_ps, f.module, f.code
ORDER BY nulls_last!(time_ps DESC, t.run_id, t.host_id, t.label, f.module, f.code)

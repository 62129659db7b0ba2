-- Stacks within steps
--
-- question: Which stacks does the thread that runs the steps have in them, and what does their time count to?
-- reads: _stack_time
-- columns:
--   run_id | text | run of the steps
--   host_id | text | host of the steps
--   stack_id | int | the stack
--   label | text | part of the steps, as in step_part
--   stack_ps | ps | time that counts to it while the thread has the stack
--   number | int | how many steps of the host count
--   steps_ps | ps | their durations, added up
SELECT t.run_id, t.host_id, t.stack_id, t.label, t.stack_ps, t.number, t.steps_ps
FROM _stack_time AS t
ORDER BY nulls_last!(t.run_id, t.host_id, t.stack_id, t.label)

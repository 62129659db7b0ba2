-- Which stacks does the thread that runs the steps have in them, and what does their time count to?
--
-- reads: _stack_time
-- columns:
--   run_id, host_id, stack_id, label, stack_ps, number, steps_ps
SELECT t.run_id, t.host_id, t.stack_id, t.label, t.stack_ps, t.number, t.steps_ps
FROM _stack_time AS t
ORDER BY nulls_last!(t.run_id, t.host_id, t.stack_id, t.label)

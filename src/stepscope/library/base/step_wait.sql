-- Time waited in each step
--
-- question: How long did a host wait in each step, and for what?
-- reads: rollup_step
-- notes: The union of the waits of one kind over all threads, cut at the edges of the step: two threads
--   that wait at once count once.
-- columns:
--   run_id, host_id, source_id
--   step_id | int | Step row | row of the view step
--   wait | text | Wait | what is waited for, as in wait_slice
--   waits | int | Waits | slices that wait
--   waited_ps | ps | Waited | union of their times within the step
SELECT
  columns!(r, run_id, host_id, source_id, step_id, wait, waits, waited_ps)
FROM rollup_step AS r

-- Parts of steps
--
-- question: How much of each step counts to each label?
-- reads: step_part
-- columns:
--   step_id | int | number of the step
--   label | text | what the time counts to
--   dur_ps | ps | time
SELECT p.step_id, p.label, p.dur_ps
FROM step_part AS p
ORDER BY p.id NULLS LAST

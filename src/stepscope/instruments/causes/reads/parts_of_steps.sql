-- How much of each step counts to each label?
--
-- reads: step_part
-- columns:
--   step_id, label, dur_ps
SELECT p.step_id, p.label, p.dur_ps
FROM step_part AS p
ORDER BY p.id NULLS LAST

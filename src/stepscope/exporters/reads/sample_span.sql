-- When do the first sample begin and the last one end?
--
-- reads: stack_sample
-- columns:
--   first_ps | ps | begin of the first
--   last_ps | ps | end of the last
SELECT MIN(m.ts_ps) AS first_ps, MAX(m.ts_ps + m.weight_ps) AS last_ps
FROM stack_sample AS m

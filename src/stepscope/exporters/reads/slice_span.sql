-- When do the first slice begin and the last one end?
--
-- reads: slice
-- columns:
--   first_ps | ps | begin of the first
--   last_ps | ps | end of the last
SELECT MIN(s.ts_ps) AS first_ps, MAX(s.ts_ps + s.dur_ps) AS last_ps
FROM slice AS s

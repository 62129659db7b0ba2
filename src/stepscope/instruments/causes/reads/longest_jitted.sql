-- In which jitted functions of JAX does what compiles within steps lie, for how long?
--
-- reads: slice
-- notes: JAX marks its call of the compiler, on the thread that waits for it. Of functions within each other, the
--   outermost: the program called that.
-- parameters: run_id, host_id
-- columns:
--   call_name | text | the mark of the call; NULL for what compiles outside of all
--   spent_ps | ps | what compiles in it
WITH compiling AS (
  SELECT s.id, s.track_id, s.ts_ps, s.dur_ps
  FROM slice AS s
  WHERE s.run_id = $run_id AND s.host_id = $host_id AND s.step IS NOT NULL AND s.name LIKE 'backend_compile%'
),

jitted AS (
  SELECT s.track_id, s.ts_ps, s.dur_ps, s.name AS call_name
  FROM slice AS s
  WHERE s.run_id = $run_id AND s.host_id = $host_id AND s.name LIKE 'PjitFunction(%)'
),

around AS (
  SELECT c.id, c.dur_ps, MIN(j.ts_ps) AS begin_ps, MAX(j.dur_ps) AS longest_ps
  FROM compiling AS c
  LEFT JOIN jitted AS j ON
    j.track_id = c.track_id AND j.ts_ps <= c.ts_ps AND j.ts_ps + j.dur_ps >= c.ts_ps + c.dur_ps
  GROUP BY c.id, c.dur_ps
)

SELECT j.call_name, sum!(a.dur_ps) AS spent_ps
FROM around AS a
LEFT JOIN jitted AS j ON j.ts_ps = a.begin_ps AND j.dur_ps = a.longest_ps
GROUP BY j.call_name
ORDER BY nulls_last!(spent_ps DESC, j.call_name)

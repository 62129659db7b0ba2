-- For how long do steps wait for input of which no stage may be known, as what is taken from a queue of a graph?
--
-- reads: step, step_part
-- columns:
--   steps_ps | ps | durations of the steps that averages include, added up; NULL without any
--   wait_ps | ps | what of it counts to input
WITH waits AS (
  SELECT p.step_id, sum_where!(p.label = 'input', p.dur_ps) AS input_ps
  FROM step_part AS p
  GROUP BY p.step_id
)

SELECT sum!(s.dur_ps) AS steps_ps, sum!(w.input_ps) AS wait_ps
FROM step AS s
INNER JOIN waits AS w ON w.step_id = s.id
WHERE s.averaged

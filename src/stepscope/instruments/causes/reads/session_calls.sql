-- How often does a step that averages include call Session.run on a host?
--
-- reads: counter, rollup_op, slice, step
-- notes: As slices show, or as the recorder counted where it could not trace them.
-- parameters: run_id, host_id
-- columns:
--   shown | int | how often slices show it, in all of these steps
--   counted | float | how often a recorded step did so, where the recorder counted
WITH slices AS (
  SELECT COUNT(*) AS runs
  FROM rollup_op AS r
  INNER JOIN slice AS s ON s.rollup_id = r.id
  INNER JOIN step AS t ON t.source_id = s.source_id AND t.step = s.step
  WHERE r.run_id = $run_id AND r.host_id = $host_id AND r.name = 'SessionRun' AND t.averaged
),

counters AS (
  SELECT AVG(c.value) AS runs
  FROM counter AS c
  WHERE c.run_id = $run_id AND c.host_id = $host_id AND c.name = 'runs of a session in a step'
)

SELECT
  s.runs AS shown,
  c.runs AS counted
FROM slices AS s
CROSS JOIN counters AS c

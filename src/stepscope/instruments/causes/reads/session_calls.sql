-- Runs of a session within steps
--
-- question: How often did the steps that averages include call Session.run on a host?
-- reads: rollup_op, slice, step
-- parameters:
--   run_id | text | run
--   host_id | text | host
-- columns:
--   calls | int | how often, in all of these steps
SELECT COUNT(*) AS calls
FROM rollup_op AS r
INNER JOIN slice AS s ON s.rollup_id = r.id
INNER JOIN step AS t ON t.source_id = s.source_id AND t.step = s.step
WHERE r.run_id = $run_id AND r.host_id = $host_id AND r.name = 'SessionRun' AND t.averaged

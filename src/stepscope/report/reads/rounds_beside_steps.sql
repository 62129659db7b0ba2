-- What did an Estimator do between steps, how often, and for how long?
--
-- reads: step, counter
-- notes: What comes after the last step that was timed lies between no two.
-- columns:
--   kind
--   rounds | int | how often
--   took_ps | ps | for how long
WITH timed AS (
  SELECT c.source_id, MAX(c.ts_ps) AS last_ps
  FROM counter AS c
  WHERE c.name = 'duration of the call in a step'
  GROUP BY c.source_id
)

SELECT s.kind, COUNT(*) AS rounds, CAST(SUM(s.dur_ps) AS BIGINT) AS took_ps
FROM step AS s
INNER JOIN timed AS t ON t.source_id = s.source_id AND s.ts_ps < t.last_ps
WHERE s.recovered_from = 'estimator'
GROUP BY s.kind
ORDER BY nulls_last!(took_ps DESC, s.kind)

-- How much of the steps of each source counts to computing, and how long do its ops take without what they call?
--
-- reads: rollup_op, step_part, track_place, step, _drawn_source
-- notes: Of recordings that know no ops, so that every function stands for one. Functions of the whole recording, so at
--   least as much as those of its steps.
-- columns:
--   source_id | int | source it was read from
--   run_id | text | run of the source
--   host_id | text | host of the source
--   counted_ps | ps | time of steps that counts to computing
--   own_ps | ps | self times of all ops that compute, added up
WITH counted AS (
  SELECT p.source_id AS of_source, SUM(p.dur_ps) AS label_ps
  FROM step_part AS p
  WHERE p.label = 'compute'
  GROUP BY p.source_id
),

computed AS (
  SELECT r.source_id AS of_source, SUM(CASE WHEN p.place = 'device' THEN r.total_ps ELSE r.op_self_ps END) AS sum_own_ps
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  INNER JOIN _drawn_source AS d ON d.source_id = r.source_id
  WHERE r.layer = 'compute' AND p.place IN ('device', 'host')
  GROUP BY r.source_id
),

hosts AS (
  SELECT s.source_id AS of_source, MIN(s.run_id) AS first_run, MIN(s.host_id) AS first_host
  FROM step AS s
  GROUP BY s.source_id
)

SELECT
  c.of_source AS source_id,
  h.first_run AS run_id,
  h.first_host AS host_id,
  CAST(c.label_ps AS BIGINT) AS counted_ps,
  CAST(o.sum_own_ps AS BIGINT) AS own_ps
FROM counted AS c
INNER JOIN hosts AS h ON h.of_source = c.of_source
INNER JOIN computed AS o ON o.of_source = c.of_source
ORDER BY c.of_source NULLS LAST

-- Launches of a host
--
-- question: How often did a host launch an op, a compiled function or a kernel?
-- reads: rollup_op, slice
-- notes: JAX may record a call of a compiled function twice, one within the other: those count once.
-- parameters:
--   run_id | text | run
--   host_id | text | host
-- columns:
--   launches | int | how often; NULL without any
WITH launching AS (
  SELECT r.id, r.slices
  FROM rollup_op AS r
  WHERE
    r.run_id = $run_id
    AND r.host_id = $host_id
    AND (
      r.name LIKE 'EagerExecute%' OR r.name LIKE 'PjitFunction(%' OR r.name LIKE 'cudaLaunch%'
      OR r.name LIKE 'cuLaunch%' OR r.name LIKE 'hipLaunch%'
    )
),

twice AS (
  SELECT COUNT(*) AS nested
  FROM slice AS s
  INNER JOIN launching AS l ON l.id = s.rollup_id
  INNER JOIN slice AS o ON o.id = s.parent_id
  WHERE o.rollup_id = s.rollup_id
),

whole AS (
  SELECT SUM(l.slices) AS number
  FROM launching AS l
)

SELECT CAST(w.number - t.nested AS BIGINT) AS launches
FROM whole AS w
CROSS JOIN twice AS t

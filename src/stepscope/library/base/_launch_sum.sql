-- How often did a host launch an op, a compiled function or a kernel?
--
-- reads: rollup_op, slice
-- notes: JAX may record a call of a compiled function twice, one within the other: those count once.
-- columns:
--   run_id, host_id
--   launch_count | int | how often
WITH launching AS (
  SELECT r.id, r.run_id, r.host_id, r.slices
  FROM rollup_op AS r
  WHERE
    r.name LIKE 'EagerExecute%' OR r.name LIKE 'PjitFunction(%' OR r.name LIKE 'cudaLaunch%'
    OR r.name LIKE 'cuLaunch%' OR r.name LIKE 'hipLaunch%' OR r.name LIKE 'hipModuleLaunch%'
    OR r.name LIKE 'hipExt%Launch%'
),

twice AS (
  SELECT l.run_id AS of_run, l.host_id AS of_host, COUNT(*) AS nested
  FROM slice AS s
  INNER JOIN launching AS l ON l.id = s.rollup_id
  INNER JOIN slice AS o ON o.id = s.parent_id
  WHERE o.rollup_id = s.rollup_id
  GROUP BY l.run_id, l.host_id
),

whole AS (
  SELECT l.run_id, l.host_id, SUM(l.slices) AS number
  FROM launching AS l
  GROUP BY l.run_id, l.host_id
)

SELECT w.run_id, w.host_id, CAST(w.number - COALESCE(t.nested, 0) AS BIGINT) AS launch_count
FROM whole AS w
LEFT JOIN twice AS t ON t.of_run = w.run_id AND t.of_host = w.host_id

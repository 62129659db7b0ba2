-- How long did each recorded program run, and how much of that went by before its first step?
--
-- reads: counter, compilation
-- notes: Of programs that ended, and whose first step the recorder saw. What compiles within another compilation counts
--   once.
-- columns:
--   run_id, host_id
--   ran_ps | ps | from the start of the program to its end
--   before_ps | ps | from its start to its first step
--   compiled_ps | ps | for how much of that it compiled
--   stepping_ps | ps | from its first step to the last one that was seen
--   between_ps | ps | for how much of that no step ran
WITH marks AS (
  SELECT
    columns!(c, run_id, host_id, source_id),
    CAST(MIN(CASE WHEN c.series = 'start_ns' THEN c.value END) * 1000 AS BIGINT) AS from_ps,
    CAST(MIN(CASE WHEN c.series = 'first_step_ns' THEN c.value END) * 1000 AS BIGINT) AS first_ps,
    CAST(MIN(CASE WHEN c.series = 'end_ns' THEN c.value END) * 1000 AS BIGINT) AS to_ps,
    CAST(MIN(CASE WHEN c.series = 'stepping_ns' THEN c.value END) * 1000 AS BIGINT) AS stepping_ps,
    CAST(MIN(CASE WHEN c.series = 'between_ns' THEN c.value END) * 1000 AS BIGINT) AS between_ps
  FROM counter AS c
  WHERE c.name = 'program'
  GROUP BY c.run_id, c.host_id, c.source_id
),

clipped AS (
  SELECT
    m.source_id,
    p.id,
    greatest!(p.ts_ps, m.from_ps) AS open_ps,
    least!(p.ts_ps + p.dur_ps, m.first_ps) AS close_ps
  FROM compilation AS p
  INNER JOIN marks AS m ON m.source_id = p.source_id AND p.ts_ps < m.first_ps AND p.ts_ps + p.dur_ps > m.from_ps
),

compiled AS (
  SELECT
    c.source_id AS of_source,
    columns!(c, open_ps, close_ps),
    covered!(c.close_ps, c.open_ps, c.id, c.source_id) AS covered_ps
  FROM clipped AS c
),

sums AS (
  SELECT c.of_source, sum!(uncovered!(c.covered_ps, c.open_ps, c.close_ps)) AS all_ps
  FROM compiled AS c
  GROUP BY c.of_source
)

SELECT
  columns!(m, run_id, host_id),
  m.to_ps - m.from_ps AS ran_ps,
  m.first_ps - m.from_ps AS before_ps,
  COALESCE(s.all_ps, 0) AS compiled_ps,
  columns!(m, stepping_ps, between_ps)
FROM marks AS m
LEFT JOIN sums AS s ON s.of_source = m.source_id
WHERE m.from_ps < m.first_ps AND m.first_ps < m.to_ps
ORDER BY nulls_last!(m.run_id, m.host_id, m.source_id)

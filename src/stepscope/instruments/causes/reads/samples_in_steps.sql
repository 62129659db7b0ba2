-- Which samples of the thread that runs the steps, or of all others, begin within steps of certain sources?
--
-- reads: stack_sample, step, capture
-- notes: Steps of other sources are compared by the time of day.
-- parameters:
--   source_id | int | source that has the samples
--   sources | ints | sources that have the steps
--   main | int | 1 for the thread that runs the steps, 0 for the others
--   averaged | int | 1 for steps that averages include, 0 for all
-- columns:
--   stack_id, weight_ps
--   active_ps | ps | how long the thread ran meanwhile, or could have and had no core; NULL where it is not known
--   no_core_ps | ps | for how much of active_ps it had no core
WITH spans AS (
  SELECT
    s.dur_ps,
    s.ts_ps + CASE WHEN s.source_id = o.source_id THEN 0 ELSE (c.origin_unix_ns - o.origin_unix_ns) * 1000 END
      AS from_ps
  FROM step AS s
  INNER JOIN capture AS c ON c.source_id = s.source_id
  INNER JOIN capture AS o ON o.source_id = $source_id
  WHERE s.source_id IN $sources AND (s.averaged OR $averaged = 0)
)

SELECT
  m.stack_id,
  m.weight_ps,
  m.cpu_ps + COALESCE(m.queued_ps, 0) AS active_ps,
  COALESCE(m.queued_ps, 0) AS no_core_ps
FROM stack_sample AS m
WHERE
  m.source_id = $source_id
  AND CASE WHEN m.is_main THEN 1 ELSE 0 END = $main
  AND m.weight_ps > 0
  AND EXISTS (
    SELECT 1 AS found FROM spans AS p WHERE m.ts_ps >= p.from_ps AND m.ts_ps < p.from_ps + p.dur_ps
  )
ORDER BY m.id NULLS LAST

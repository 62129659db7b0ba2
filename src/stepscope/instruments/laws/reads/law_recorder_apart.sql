-- How long did the recorder of each source work for itself in steps?
--
-- reads: rollup_op, slice, step
-- notes: Of steps that averages include, or of the whole recording where none were found.
-- columns:
--   source_id, run_id, host_id
--   what | text | what it did
--   own_ps | ps | its time in steps
--   steps_ps | ps | the time of all steps
WITH own AS (
  SELECT columns!(s, source_id, run_id, host_id, name, ts_ps), s.ts_ps + s.dur_ps AS end_ps
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  WHERE r.category = 'overhead'
),

judged AS (
  SELECT t.run_id AS of_run, t.host_id AS of_host, t.ts_ps AS begin_ps, t.ts_ps + t.dur_ps AS over_ps
  FROM step AS t
  WHERE t.averaged OR t.recovered_from = 'whole_capture'
),

whole AS (
  SELECT j.of_run AS whole_run, j.of_host AS whole_host, sum!(j.over_ps - j.begin_ps) AS all_ps
  FROM judged AS j
  GROUP BY j.of_run, j.of_host
),

cut AS (
  SELECT
    columns!(o, source_id, run_id, host_id, name),
    least!(o.end_ps, j.over_ps) AS until_ps,
    greatest!(o.ts_ps, j.begin_ps) AS since_ps,
    w.all_ps
  FROM own AS o
  INNER JOIN judged AS j
    ON j.of_run = o.run_id AND j.of_host = o.host_id AND j.begin_ps < o.end_ps AND j.over_ps > o.ts_ps
  INNER JOIN whole AS w ON w.whole_run = o.run_id AND w.whole_host = o.host_id
)

SELECT
  columns!(c, source_id, run_id, host_id),
  MIN(c.name) AS what,
  sum!(c.until_ps - c.since_ps) AS own_ps,
  MAX(c.all_ps) AS steps_ps
FROM cut AS c
GROUP BY c.source_id, c.run_id, c.host_id
ORDER BY c.source_id NULLS LAST

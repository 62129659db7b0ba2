-- How long did the recorder of each source work for itself in steps?
--
-- reads: rollup_op, slice, step, _busy_step
-- notes: Of steps that averages include, or of the whole recording where none were found. What it did while ops ran
--   made no step longer, so it took at most the time in which none did.
-- columns:
--   source_id, run_id, host_id
--   what | text | what it did
--   own_ps | ps | its time in steps
--   judged_ps | ps | the time of all steps
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

-- What of the steps lies before a moment grows by one in a step and by nothing outside: what lies within a slice is the
-- difference of both ends.
moment AS (
  SELECT columns!(b, source_id, run_id, host_id, name), b.ts_ps AS at_ps, 0 AS opens, -1 AS ends
  FROM own AS b
  UNION ALL
  SELECT columns!(e, source_id, run_id, host_id, name), e.end_ps AS at_ps, 0 AS opens, 1 AS ends
  FROM own AS e
  UNION ALL
  SELECT
    NULL AS source_id,
    f.of_run AS run_id,
    f.of_host AS host_id,
    NULL AS name,
    f.begin_ps AS at_ps,
    1 AS opens,
    0 AS ends
  FROM judged AS f
  UNION ALL
  SELECT
    NULL AS source_id,
    g.of_run AS run_id,
    g.of_host AS host_id,
    NULL AS name,
    g.over_ps AS at_ps,
    -1 AS opens,
    0 AS ends
  FROM judged AS g
),

passed AS (
  SELECT
    columns!(m, source_id, run_id, host_id, name, ends),
    m.at_ps * SUM(m.opens) OVER (
      PARTITION BY m.run_id, m.host_id ORDER BY m.at_ps NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
    - SUM(m.opens * m.at_ps) OVER (
      PARTITION BY m.run_id, m.host_id ORDER BY m.at_ps NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS stepped_ps
  FROM moment AS m
),

within AS (
  SELECT columns!(p, source_id, run_id, host_id, name), sum!(p.ends * p.stepped_ps) AS part_ps
  FROM passed AS p
  WHERE p.ends <> 0
  GROUP BY p.source_id, p.run_id, p.host_id, p.name
),

of_sources AS (
  SELECT columns!(c, source_id, run_id, host_id), MIN(c.name) AS named, sum!(c.part_ps) AS all_parts_ps
  FROM within AS c
  WHERE c.part_ps > 0
  GROUP BY c.source_id, c.run_id, c.host_id
)

SELECT
  columns!(c, source_id, run_id, host_id),
  c.named AS what,
  CASE WHEN b.idle_ps < c.all_parts_ps THEN b.idle_ps ELSE c.all_parts_ps END AS own_ps,
  w.all_ps AS judged_ps
FROM of_sources AS c
INNER JOIN whole AS w ON w.whole_run = c.run_id AND w.whole_host = c.host_id
LEFT JOIN _busy_step AS b ON b.run_id = c.run_id AND b.host_id = c.host_id
ORDER BY c.source_id NULLS LAST

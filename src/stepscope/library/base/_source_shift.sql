-- Where each source lies on one axis of time
--
-- question: What has to be added to the times of a source so that all sources share one axis?
-- reads: source, capture, slice, instant, counter
-- notes: Captures that know the time of day are laid out by it, from the first of them on. Nothing says when the
--   others began, so they follow one another after all that is known; so do those of more than 46 days later, and
--   what still does not fit the numbers begins where it says itself.
-- columns:
--   source_id | int | Source | number of the source
--   known | bool | Known | whether the time of day says where it lies
--   shift_ps | ps | Shift | to be added to its times
--   first_ps | ps | First | its first moment on the axis
--   last_ps | ps | Last | its last moment on the axis
WITH parts AS (
  SELECT s.source_id, MIN(s.ts_ps) AS low_ps, MAX(s.ts_ps + s.dur_ps) AS high_ps
  FROM slice AS s
  GROUP BY s.source_id
  UNION ALL
  SELECT i.source_id, MIN(i.ts_ps) AS low_ps, MAX(i.ts_ps) AS high_ps
  FROM instant AS i
  GROUP BY i.source_id
  UNION ALL
  SELECT c.source_id, MIN(c.ts_ps) AS low_ps, MAX(c.ts_ps) AS high_ps
  FROM counter AS c
  GROUP BY c.source_id
),

spans AS (
  SELECT p.source_id, MIN(p.low_ps) AS least_ps, MAX(p.high_ps) AS most_ps
  FROM parts AS p
  GROUP BY p.source_id
),

origins AS (
  SELECT c.source_id, MIN(CASE WHEN c.clock = 'unix' THEN c.origin_unix_ns END) AS begin_ns
  FROM capture AS c
  GROUP BY c.source_id
),

base AS (
  SELECT MIN(o.begin_ns) AS base_ns
  FROM origins AS o
  INNER JOIN spans AS p ON p.source_id = o.source_id
),

apart AS (
  SELECT
    f.source_id,
    COALESCE(p.least_ps, 0) AS start_ps,
    COALESCE(p.most_ps, 0) AS end_ps,
    CASE WHEN p.source_id IS NULL THEN 1 ELSE 0 END AS nothing,
    o.begin_ns,
    b.base_ns,
    (CAST(o.begin_ns AS DOUBLE) - CAST(b.base_ns AS DOUBLE)) * 1000.0 AS about_ps
  FROM source AS f
  LEFT JOIN spans AS p ON p.source_id = f.source_id
  LEFT JOIN origins AS o ON o.source_id = f.source_id
  CROSS JOIN base AS b
),

laid AS (
  SELECT
    a.source_id,
    a.start_ps,
    a.end_ps,
    CASE
      WHEN a.nothing = 1 THEN 0
      WHEN a.about_ps < 4.0e18 AND a.about_ps + CAST(a.end_ps AS DOUBLE) < 9.0e18 THEN (a.begin_ns - a.base_ns) * 1000
    END AS known_ps,
    CASE
      WHEN CAST(a.end_ps AS DOUBLE) - CAST(a.start_ps AS DOUBLE) < 9.0e18 THEN a.end_ps - a.start_ps
      ELSE 0
    END AS length_ps,
    CAST(a.end_ps AS DOUBLE) - CAST(a.start_ps AS DOUBLE) AS about_length_ps
  FROM apart AS a
),

known_end AS (
  SELECT MAX(l.end_ps + l.known_ps) AS after_ps
  FROM laid AS l
  WHERE l.known_ps IS NOT NULL
),

queued AS (
  SELECT
    l.source_id,
    l.start_ps,
    l.length_ps,
    k.after_ps,
    COALESCE(SUM(l.length_ps) OVER (
      ORDER BY l.source_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS before_ps,
    COALESCE(SUM(l.about_length_ps) OVER (
      ORDER BY l.source_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0.0) AS about_before_ps,
    FIRST_VALUE(l.start_ps) OVER (
      ORDER BY l.source_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS lead_ps
  FROM laid AS l
  CROSS JOIN known_end AS k
  WHERE l.known_ps IS NULL
),

waiting AS (
  SELECT
    q.source_id,
    CASE
      WHEN CAST(COALESCE(q.after_ps, q.lead_ps) AS DOUBLE) + q.about_before_ps + CAST(q.length_ps AS DOUBLE) < 9.0e18
        THEN CAST(COALESCE(q.after_ps, q.lead_ps) + q.before_ps - q.start_ps AS BIGINT)
      ELSE 0
    END AS queued_ps
  FROM queued AS q
),

shifts AS (
  SELECT
    l.source_id,
    l.start_ps,
    l.end_ps,
    l.known_ps,
    COALESCE(l.known_ps, w.queued_ps) AS added_ps
  FROM laid AS l
  LEFT JOIN waiting AS w ON w.source_id = l.source_id
)

SELECT
  t.source_id,
  t.known_ps IS NOT NULL AS known,
  t.added_ps AS shift_ps,
  t.start_ps + t.added_ps AS first_ps,
  t.end_ps + t.added_ps AS last_ps
FROM shifts AS t

-- What has to be added to the times of a source so that all sources share one axis?
--
-- reads: source, capture, slice, instant, counter, clock_offset
-- notes: Sources whose clocks the ends of collectives align lie as these say, and move together. The first of them
--   that knows the time of day places them; other captures that know it are laid out by it, from the earliest on.
--   Ranks of a run whose clocks nothing aligns begin at the same moment. Nothing says when the others began, so they
--   follow one another after all that is known; so do those of more than 46 days later, and what still does not fit
--   the numbers begins where it says itself.
-- columns:
--   source_id
--   known | bool | whether the time of day says where it lies
--   shift_ps | ps | to be added to its times
--   first_ps | ps | its first moment on the axis
--   last_ps | ps | its last moment on the axis
--   placed_by | text | collectives, time_of_day, begin (of the ranks beside it) or order (after the others)
--   residual_ps
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

moments AS (
  SELECT
    columns!(f, source_id, run_id),
    COALESCE(p.least_ps, 0) AS start_ps,
    COALESCE(p.most_ps, 0) AS end_ps,
    CASE WHEN p.source_id IS NULL THEN 1 ELSE 0 END AS nothing,
    o.begin_ns
  FROM source AS f
  LEFT JOIN spans AS p ON p.source_id = f.source_id
  LEFT JOIN origins AS o ON o.source_id = f.source_id
),

-- A clock that drifts is right in the middle of its recording.
offsets AS (
  SELECT
    columns!(k, source_id, axis_source_id, residual_ps),
    CAST(m.start_ps AS DOUBLE) AS about_start_ps,
    CAST(m.end_ps AS DOUBLE) AS about_end_ps,
    CAST(k.offset_ps AS DOUBLE) AS about_offset_ps,
    k.offset_ps + whole!(COALESCE(k.drift_ppm, 0.0) * 0.000001 * (
      (CAST(m.start_ps AS DOUBLE) + CAST(m.end_ps AS DOUBLE)) * 0.5 - CAST(k.anchor_ps AS DOUBLE)
    )) AS whole_offset_ps
  FROM clock_offset AS k
  INNER JOIN moments AS m ON m.source_id = k.source_id
  WHERE
    k.aligned_by IN ('axis', 'ends')
    AND k.offset_ps IS NOT NULL
    AND k.anchor_ps IS NOT NULL
    AND ABS(CAST(k.offset_ps AS DOUBLE)) < 4.0e18
    AND ABS(COALESCE(k.drift_ppm, 0.0)) <= 1000.0
),

shared AS (
  SELECT f.axis_source_id
  FROM offsets AS f
  WHERE ABS(f.about_start_ps + f.about_offset_ps) < 4.0e18 AND ABS(f.about_end_ps + f.about_offset_ps) < 4.0e18
  GROUP BY f.axis_source_id
  HAVING COUNT(*) > 1
),

aligned AS (
  SELECT f.source_id, f.axis_source_id, f.whole_offset_ps, f.residual_ps
  FROM offsets AS f
  INNER JOIN shared AS h ON h.axis_source_id = f.axis_source_id
  WHERE ABS(f.about_start_ps + f.about_offset_ps) < 4.0e18 AND ABS(f.about_end_ps + f.about_offset_ps) < 4.0e18
),

ranked AS (
  SELECT c.source_id, MIN(c.rank) AS own_rank
  FROM capture AS c
  WHERE c.rank IS NOT NULL
  GROUP BY c.source_id
),

turns AS (
  SELECT
    columns!(m, source_id, run_id, start_ps),
    ROW_NUMBER() OVER (PARTITION BY m.run_id, r.own_rank ORDER BY m.source_id NULLS LAST) AS turn
  FROM moments AS m
  INNER JOIN ranked AS r ON r.source_id = m.source_id
  LEFT JOIN aligned AS g ON g.source_id = m.source_id
  WHERE
    g.source_id IS NULL
    AND m.begin_ns IS NULL
    AND m.nothing = 0
    AND ABS(CAST(m.start_ps AS DOUBLE)) < 2.0e18
    AND ABS(CAST(m.end_ps AS DOUBLE)) < 2.0e18
),

beside AS (
  SELECT
    t.source_id,
    MIN(t.source_id) OVER (PARTITION BY t.run_id, t.turn) AS mate_id,
    MIN(t.start_ps) OVER (PARTITION BY t.run_id, t.turn) - t.start_ps AS earlier_ps,
    COUNT(*) OVER (PARTITION BY t.run_id, t.turn) AS mates
  FROM turns AS t
),

-- Sources that move together, each by its own clock.
members AS (
  SELECT
    m.source_id,
    COALESCE(g.axis_source_id, b.mate_id, m.source_id) AS unit_id,
    COALESCE(g.whole_offset_ps, b.earlier_ps, 0) AS moved_ps,
    CASE WHEN g.source_id IS NOT NULL THEN 'collectives' WHEN b.mates > 1 THEN 'begin' ELSE 'alone' END AS together,
    g.residual_ps,
    columns!(m, start_ps, end_ps, nothing, begin_ns),
    z.base_ns,
    (CAST(m.begin_ns AS DOUBLE) - CAST(z.base_ns AS DOUBLE)) * 1000.0 AS about_ps
  FROM moments AS m
  LEFT JOIN aligned AS g ON g.source_id = m.source_id
  LEFT JOIN beside AS b ON b.source_id = m.source_id
  CROSS JOIN base AS z
),

placed AS (
  SELECT
    columns!(n, source_id, unit_id, moved_ps),
    n.start_ps + n.moved_ps AS low_ps,
    n.end_ps + n.moved_ps AS high_ps,
    CASE
      WHEN n.nothing = 1 THEN 0
      WHEN n.about_ps < 4.0e18 AND n.about_ps + CAST(n.end_ps AS DOUBLE) < 9.0e18
        THEN (n.begin_ns - n.base_ns) * 1000 - n.moved_ps
    END AS own_ps
  FROM members AS n
),

-- The one whose clock is the axis says where all lie, or the first that knows, where it does not.
firsts AS (
  SELECT
    columns!(p, unit_id, own_ps),
    ROW_NUMBER() OVER (
      PARTITION BY p.unit_id
      ORDER BY nulls_last!(CASE WHEN p.source_id = p.unit_id THEN 0 ELSE 1 END, p.source_id)
    ) AS turn
  FROM placed AS p
  WHERE p.own_ps IS NOT NULL
),

units AS (
  SELECT p.unit_id, MIN(p.low_ps) AS start_ps, MAX(p.high_ps) AS end_ps, MIN(p.source_id) AS first_id
  FROM placed AS p
  GROUP BY p.unit_id
),

laid AS (
  SELECT
    columns!(u, unit_id, first_id, start_ps, end_ps),
    CASE WHEN CAST(u.end_ps AS DOUBLE) + CAST(f.own_ps AS DOUBLE) < 9.0e18 THEN f.own_ps END AS known_ps,
    CASE
      WHEN CAST(u.end_ps AS DOUBLE) - CAST(u.start_ps AS DOUBLE) < 9.0e18 THEN u.end_ps - u.start_ps
      ELSE 0
    END AS length_ps,
    CAST(u.end_ps AS DOUBLE) - CAST(u.start_ps AS DOUBLE) AS about_length_ps
  FROM units AS u
  LEFT JOIN firsts AS f ON f.unit_id = u.unit_id AND f.turn = 1
),

known_end AS (
  SELECT MAX(l.end_ps + l.known_ps) AS after_ps
  FROM laid AS l
  WHERE l.known_ps IS NOT NULL
),

queued AS (
  SELECT
    columns!(l, unit_id, start_ps, length_ps),
    k.after_ps,
    COALESCE(SUM(l.length_ps) OVER (
      ORDER BY l.first_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS before_ps,
    COALESCE(SUM(l.about_length_ps) OVER (
      ORDER BY l.first_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0.0) AS about_before_ps,
    FIRST_VALUE(l.start_ps) OVER (
      ORDER BY l.first_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS lead_ps
  FROM laid AS l
  CROSS JOIN known_end AS k
  WHERE l.known_ps IS NULL
),

waiting AS (
  SELECT
    q.unit_id,
    CASE
      WHEN CAST(COALESCE(q.after_ps, q.lead_ps) AS DOUBLE) + q.about_before_ps + CAST(q.length_ps AS DOUBLE) < 9.0e18
        THEN CAST(COALESCE(q.after_ps, q.lead_ps) + q.before_ps - q.start_ps AS BIGINT)
      ELSE 0
    END AS queued_ps
  FROM queued AS q
),

shifts AS (
  SELECT l.unit_id, l.known_ps, COALESCE(l.known_ps, w.queued_ps) AS added_ps
  FROM laid AS l
  LEFT JOIN waiting AS w ON w.unit_id = l.unit_id
)

SELECT
  n.source_id,
  t.known_ps IS NOT NULL AS known,
  t.added_ps + n.moved_ps AS shift_ps,
  n.start_ps + (t.added_ps + n.moved_ps) AS first_ps,
  n.end_ps + (t.added_ps + n.moved_ps) AS last_ps,
  CASE
    WHEN n.together = 'collectives' THEN 'collectives'
    WHEN t.known_ps IS NOT NULL THEN 'time_of_day'
    WHEN n.together = 'begin' THEN 'begin'
    ELSE 'order'
  END AS placed_by,
  n.residual_ps
FROM members AS n
INNER JOIN shifts AS t ON t.unit_id = n.unit_id

-- How many asynchronous spans of each name, as of requests, do sources have that record nothing else, and how long?
--
-- reads: slice, rollup_op, track
-- notes: By their names where a category has few of them; else each span has a name of its own, and counts to its
--   category. Spans within others are parts of them, and left out.
-- columns:
--   called | text | name or category
--   spans | int | how many
--   mean_ps | ps | mean duration
--   p95_ps | ps | 95 % are no longer
--   sum_ps | ps | durations, added up
--   from_ps | ps | begin of the first
--   to_ps | ps | end of the last
WITH others AS (
  SELECT r.source_id AS other_source
  FROM rollup_op AS r
  INNER JOIN track AS t ON t.id = r.track_id
  WHERE t.kind <> 'async'
  GROUP BY r.source_id
),

outer_spans AS (
  SELECT columns!(s, id, name, category, ts_ps, dur_ps)
  FROM slice AS s
  INNER JOIN track AS t ON t.id = s.track_id
  LEFT JOIN others AS o ON o.other_source = s.source_id
  WHERE t.kind = 'async' AND s.depth = 0 AND o.other_source IS NULL
),

kinds AS (
  SELECT s.category AS of_category, COUNT(DISTINCT s.name) AS names
  FROM outer_spans AS s
  GROUP BY s.category
),

called_so AS (
  SELECT
    columns!(s, id, ts_ps, dur_ps),
    CASE WHEN k.names <= 12 OR s.category IS NULL THEN s.name ELSE s.category END AS span_name
  FROM outer_spans AS s
  LEFT JOIN kinds AS k ON k.of_category = s.category
),

ranked AS (
  SELECT
    columns!(c, span_name, ts_ps, dur_ps),
    ROW_NUMBER() OVER (PARTITION BY c.span_name ORDER BY nulls_last!(c.dur_ps, c.id)) AS place_in_list,
    COUNT(*) OVER (PARTITION BY c.span_name) AS total
  FROM called_so AS c
)

SELECT
  r.span_name AS called,
  COUNT(*) AS spans,
  mean!(SUM(r.dur_ps), COUNT(*)) AS mean_ps,
  MIN(CASE WHEN r.place_in_list * 20 >= r.total * 19 THEN r.dur_ps END) AS p95_ps,
  sum!(r.dur_ps) AS sum_ps,
  MIN(r.ts_ps) AS from_ps,
  MAX(r.ts_ps + r.dur_ps) AS to_ps
FROM ranked AS r
GROUP BY r.span_name
ORDER BY nulls_last!(sum_ps DESC, called)

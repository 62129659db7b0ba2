-- What are the least and the largest value of each series in each of many stretches of a window?
--
-- reads: counter, _source_shift
-- parameters:
--   first_ps | int | start of the window on the axis
--   until_ps | int | end of the window, itself outside
--   width_ps | int | length of a stretch
-- columns:
--   track_id
--   counter | text | name of the counter
--   part | text | name of the series within it
--   stretch | int | number of the stretch; -1: what came last before the window
--   begin_ps | ps | when the first value of the stretch was recorded
--   low | float | least value
--   high | float | largest value
WITH placed AS (
  SELECT
    columns!(c, id, track_id),
    c.name AS counter,
    c.series AS part,
    c.ts_ps + f.shift_ps AS at_ps,
    c.value AS number
  FROM counter AS c
  INNER JOIN _source_shift AS f ON f.source_id = c.source_id
  WHERE c.value IS NOT NULL AND c.ts_ps + f.shift_ps < $until_ps
),

numbered AS (
  SELECT
    columns!(p, track_id, counter, part, at_ps, number),
    CASE
      WHEN p.at_ps < $first_ps THEN -1
      ELSE mean!(p.at_ps - $first_ps, CAST($width_ps AS DOUBLE))
    END AS stretch,
    ROW_NUMBER() OVER (
      PARTITION BY p.track_id, p.counter, p.part, CASE WHEN p.at_ps < $first_ps THEN 1 ELSE 0 END
      ORDER BY nulls_last!(p.at_ps DESC, p.id DESC)
    ) AS from_end
  FROM placed AS p
)

SELECT
  columns!(n, track_id, counter, part, stretch),
  MIN(n.at_ps) AS begin_ps,
  MIN(n.number) AS low,
  MAX(n.number) AS high
FROM numbered AS n
WHERE n.stretch >= 0 OR n.from_end = 1
GROUP BY columns!(n, track_id, counter, part, stretch)
ORDER BY nulls_last!(n.track_id, n.counter, n.part, n.stretch)

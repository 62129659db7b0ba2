-- On how many threads did ops run at once, at most, in recordings whose iterators tell neither cores nor threads?
--
-- reads: slice, track
-- notes: TensorFlow 1 records what its threads run as node:Type, once, whether a session or a function of tf.data asked
--   for it: the same threads run both. Times are cut to whole microseconds, so an op counts as a microsecond shorter.
--   Ops that wait without a thread, for a batch or for another device, do not count.
-- parameters:
--   sources | ints | the sources
-- columns:
--   source_id
--   most | int | the most ops that ran at once
WITH ran AS (
  SELECT s.source_id, s.ts_ps, s.ts_ps + s.dur_ps - 1000000 AS end_ps
  FROM slice AS s
  INNER JOIN track AS k ON k.id = s.track_id
  WHERE
    s.source_id IN $sources
    AND s.op_type IS NULL
    AND s.dur_ps > 1000000
    AND COALESCE(k.name, '') <> 'python'
    AND s.name LIKE '%_:_%'
    AND s.name NOT LIKE '%::%'
    AND s.name NOT LIKE '%:IteratorGetNext%'
    AND s.name NOT LIKE '%:%Dequeue%'
    AND s.name NOT LIKE '%Send'
    AND s.name NOT LIKE '%Recv'
),

turns AS (
  SELECT r.source_id, r.ts_ps AS at_ps, 1 AS turn
  FROM ran AS r
  UNION ALL
  SELECT r.source_id, r.end_ps AS at_ps, -1 AS turn
  FROM ran AS r
),

counted AS (
  SELECT
    t.source_id,
    SUM(t.turn) OVER (
      PARTITION BY t.source_id
      ORDER BY t.at_ps NULLS LAST, t.turn NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS running
  FROM turns AS t
)

SELECT c.source_id, CAST(MAX(c.running) AS BIGINT) AS most
FROM counted AS c
GROUP BY c.source_id
ORDER BY nulls_last!(c.source_id)

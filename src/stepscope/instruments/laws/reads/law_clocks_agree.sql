-- How much of what calls launched is done when the host has waited for its whole device?
--
-- reads: rollup_op, slice, track_place
-- notes: Of each launch before such a wait, what counts is the next wait to begin. Nothing tells for which of several
--   devices a call waits.
-- columns:
--   source_id, run_id, host_id
--   waited_for | int | kernels launched before the host waited for its device
--   late | int | those that begin, as their times say, when that wait is over
--   least_ps | ps | how long after it the latest of them ends
WITH calls AS (
  SELECT columns!(r, id, source_id), CASE WHEN r.wait = 'device' THEN 'wait' ELSE 'launch' END AS does
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE
    p.place <> 'device' AND (r.category IS NULL OR r.category <> 'user_annotation')
    AND (
      kernel_launch!(r.name)
      OR r.wait = 'device' AND (r.name LIKE '%DeviceSynchronize' OR r.name = 'cuCtxSynchronize')
    )
),

made AS (
  SELECT
    c.does,
    columns!(s, source_id, run_id, host_id, id, ts_ps, correlation_id),
    s.ts_ps + s.dur_ps AS end_ps
  FROM slice AS s
  INNER JOIN calls AS c ON c.id = s.rollup_id
),

followed AS (
  SELECT
    columns!(m, source_id, run_id, host_id, does, correlation_id),
    MIN(CASE WHEN m.does = 'wait' THEN m.end_ps END) OVER (
      PARTITION BY m.source_id ORDER BY nulls_last!(m.ts_ps, m.id)
      ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ) AS waited_ps
  FROM made AS m
),

worked AS (
  SELECT
    s.source_id AS on_source,
    s.correlation_id AS by_call,
    MIN(s.ts_ps) AS begin_ps,
    MAX(s.ts_ps + s.dur_ps) AS done_ps
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id AND r.is_op
  INNER JOIN track_place AS p ON p.track_id = r.track_id AND p.place = 'device'
  WHERE s.correlation_id IS NOT NULL AND s.dur_ps > 0
  GROUP BY s.source_id, s.correlation_id
)

SELECT
  columns!(f, source_id, run_id, host_id),
  CAST(COUNT(*) AS BIGINT) AS waited_for,
  CAST(sum_where!(w.begin_ps >= f.waited_ps, 1) AS BIGINT) AS late,
  CAST(MAX(w.done_ps - f.waited_ps) AS BIGINT) AS least_ps
FROM followed AS f
INNER JOIN worked AS w ON w.on_source = f.source_id AND w.by_call = f.correlation_id
WHERE f.does = 'launch' AND f.waited_ps IS NOT NULL
GROUP BY f.source_id, f.run_id, f.host_id
HAVING sum_where!(w.begin_ps >= f.waited_ps, 1) > 0
ORDER BY f.source_id NULLS LAST

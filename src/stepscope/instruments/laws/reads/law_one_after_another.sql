-- How many kernels of a stream last until the next one of it is over as well?
--
-- reads: rollup_op, slice, track_place
-- notes: A stream runs its kernels one after the other. Kernels of one graph may run at once on the row of a stream,
--   and a kernel may begin while the one before it ends: both are left out.
-- columns:
--   source_id, run_id, host_id
--   kernels | int | kernels on streams
--   too_long | int | those that end after the next one has ended
--   longest_name | text | name of one of them that lasts longest
--   longest_ps | ps | its duration
WITH kernels AS (
  SELECT r.id, r.name AS called
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE p.place = 'device' AND p.device_kind = 'gpu' AND r.is_op AND r.category = 'kernel'
),

ordered AS (
  SELECT
    columns!(s, source_id, run_id, host_id),
    k.called,
    columns!(s, ts_ps, dur_ps),
    COUNT(*) OVER (PARTITION BY s.source_id, s.correlation_id) AS of_call,
    LEAD(s.ts_ps) OVER (PARTITION BY s.track_id ORDER BY nulls_last!(s.ts_ps, s.dur_ps DESC, s.id))
      AS next_ps,
    LEAD(s.dur_ps) OVER (PARTITION BY s.track_id ORDER BY nulls_last!(s.ts_ps, s.dur_ps DESC, s.id))
      AS next_dur_ps
  FROM slice AS s
  INNER JOIN kernels AS k ON k.id = s.rollup_id
  WHERE s.dur_ps > 0
),

judged AS (
  SELECT
    columns!(o, source_id, run_id, host_id, called, dur_ps),
    CASE WHEN o.of_call = 1 AND o.next_dur_ps > 0 AND o.ts_ps + o.dur_ps >= o.next_ps + o.next_dur_ps THEN 1 ELSE 0 END
      AS covers
  FROM ordered AS o
)

SELECT
  columns!(j, source_id, run_id, host_id),
  CAST(COUNT(*) AS BIGINT) AS kernels,
  sum!(j.covers) AS too_long,
  MAX(CASE WHEN j.covers = 1 THEN j.called END) AS longest_name,
  CAST(MAX(CASE WHEN j.covers = 1 THEN j.dur_ps END) AS BIGINT) AS longest_ps
FROM judged AS j
GROUP BY j.source_id, j.run_id, j.host_id
HAVING SUM(j.covers) > 0
ORDER BY j.source_id NULLS LAST

-- How many kernels of each source were recorded without a duration?
--
-- reads: rollup_op, slice, track_place, source_note
-- columns:
--   source_id, run_id, host_id
--   kernels | int | kernels on devices
--   timeless | int | those that take no time
WITH kernels AS (
  SELECT r.id, r.source_id AS of_source, r.slices, r.min_ps, r.max_ps AS longest_ps, r.total_ps AS own_ps
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE p.place = 'device' AND p.device_kind = 'gpu' AND r.is_op AND r.class IN ('compute', 'communication')
),

without_end AS (
  SELECT n.source_id
  FROM source_note AS n
  WHERE n.slug IN ('missing-duration', 'negative-duration')
  GROUP BY n.source_id
),

whole AS (
  -- A clock that tells whole microseconds rounds short kernels down to nothing, but not all there are, and not
  -- those of which the file has no duration.
  SELECT
    k.of_source,
    SUM(k.slices) AS number,
    MAX(CASE WHEN k.longest_ps % 1000000 <> 0 OR k.own_ps % 1000000 <> 0 THEN 1 ELSE 0 END) AS fine,
    MAX(k.longest_ps) AS longest_of_all_ps
  FROM kernels AS k
  GROUP BY k.of_source
)

SELECT
  columns!(s, source_id, run_id, host_id),
  CAST(MAX(w.number) AS BIGINT) AS kernels,
  CAST(COUNT(*) AS BIGINT) AS timeless
FROM slice AS s
INNER JOIN kernels AS k ON k.id = s.rollup_id AND k.min_ps <= 0
INNER JOIN whole AS w ON w.of_source = s.source_id
LEFT JOIN without_end AS e ON e.source_id = s.source_id
WHERE s.dur_ps <= 0 AND (w.fine = 1 OR w.longest_of_all_ps <= 0 OR e.source_id IS NOT NULL)
GROUP BY s.source_id, s.run_id, s.host_id
ORDER BY s.source_id NULLS LAST

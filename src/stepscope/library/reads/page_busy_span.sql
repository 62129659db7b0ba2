-- Tracks at work in a range for a page
--
-- question: For how much of a range is anything going on on some tracks, and how much goes on at once?
-- reads: slice, _source_shift
-- parameters:
--   tracks | ints | tracks
--   first_ps | int | start of the range on the axis
--   until_ps | int | end of the range, itself outside
-- columns:
--   busy_ps | ps | time in which at least one track has a slice
--   work_ps | ps | times in which tracks have slices, added up
WITH edges AS (
  SELECT
    s.track_id,
    CASE WHEN s.ts_ps + f.shift_ps < $first_ps THEN $first_ps ELSE s.ts_ps + f.shift_ps END AS begin_ps,
    CASE
      WHEN s.ts_ps + s.dur_ps + f.shift_ps > $until_ps THEN $until_ps ELSE s.ts_ps + s.dur_ps + f.shift_ps
    END AS end_ps
  FROM slice AS s
  INNER JOIN _source_shift AS f ON f.source_id = s.source_id
  WHERE s.track_id IN $tracks AND s.depth = 0
    AND s.ts_ps + f.shift_ps < $until_ps AND s.ts_ps + s.dur_ps + f.shift_ps > $first_ps
),

reach AS (
  SELECT
    e.begin_ps,
    e.end_ps,
    MAX(e.end_ps) OVER (
      ORDER BY e.begin_ps NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS all_before_ps,
    MAX(e.end_ps) OVER (
      PARTITION BY e.track_id ORDER BY e.begin_ps NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS own_before_ps
  FROM edges AS e
)

SELECT
  CAST(SUM(CASE
    WHEN r.all_before_ps IS NULL OR r.all_before_ps <= r.begin_ps THEN r.end_ps - r.begin_ps
    WHEN r.all_before_ps < r.end_ps THEN r.end_ps - r.all_before_ps
    ELSE 0
  END) AS BIGINT) AS busy_ps,
  CAST(SUM(CASE
    WHEN r.own_before_ps IS NULL OR r.own_before_ps <= r.begin_ps THEN r.end_ps - r.begin_ps
    WHEN r.own_before_ps < r.end_ps THEN r.end_ps - r.own_before_ps
    ELSE 0
  END) AS BIGINT) AS work_ps
FROM reach AS r
ORDER BY busy_ps NULLS LAST

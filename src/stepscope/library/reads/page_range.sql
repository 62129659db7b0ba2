-- Ops of a range for a page
--
-- question: How much time do slices of each name and type take within a range of time on some tracks?
-- reads: slice, _source_shift
-- notes: Durations are cut at the edges of the range. Of a slice that reaches over an edge, self time is what its
--   direct children leave of it within the range.
-- parameters:
--   tracks | ints | tracks
--   first_ps | int | start of the range on the axis
--   until_ps | int | end of the range, itself outside
--   most | int | names to list
-- columns:
--   name | text | name of slices
--   op_type | text | type of the op, where known
--   slices | int | slices that lie in the range, or reach into it
--   total_ps | ps | their durations within the range
--   self_ps | ps | their self times within the range
--   names | int | names and types that there are
--   all_slices | int | slices of all of them
WITH shifted AS (
  SELECT
    s.id,
    s.parent_id,
    s.name,
    s.op_type,
    s.self_ps,
    s.ts_ps + f.shift_ps AS begin_ps,
    s.ts_ps + s.dur_ps + f.shift_ps AS end_ps
  FROM slice AS s
  INNER JOIN _source_shift AS f ON f.source_id = s.source_id
  WHERE s.track_id IN $tracks
),

cut AS (
  SELECT
    h.id,
    h.parent_id,
    h.name,
    h.op_type,
    h.self_ps,
    CASE WHEN h.begin_ps < $first_ps OR h.end_ps > $until_ps THEN 1 ELSE 0 END AS over_edge,
    CASE WHEN h.end_ps > $until_ps THEN $until_ps ELSE h.end_ps END
      - CASE WHEN h.begin_ps < $first_ps THEN $first_ps ELSE h.begin_ps END AS within_ps
  FROM shifted AS h
  WHERE h.begin_ps < $until_ps AND (h.end_ps > $first_ps OR h.begin_ps >= $first_ps)
),

covered AS (
  SELECT c.parent_id, SUM(c.within_ps) AS children_ps
  FROM cut AS c
  WHERE c.parent_id IS NOT NULL
  GROUP BY c.parent_id
),

own AS (
  SELECT
    c.name,
    c.op_type,
    c.within_ps,
    CASE
      WHEN c.over_edge = 0 THEN c.self_ps
      WHEN c.within_ps > COALESCE(v.children_ps, 0) THEN c.within_ps - COALESCE(v.children_ps, 0)
      ELSE 0
    END AS own_ps
  FROM cut AS c
  LEFT JOIN covered AS v ON v.parent_id = c.id AND c.over_edge = 1
),

summed AS (
  SELECT
    w.name,
    w.op_type,
    COUNT(*) AS number,
    CAST(SUM(w.within_ps) AS BIGINT) AS sum_ps,
    CAST(SUM(w.own_ps) AS BIGINT) AS sum_own_ps
  FROM own AS w
  GROUP BY w.name, w.op_type
)

SELECT
  m.name,
  m.op_type,
  m.number AS slices,
  m.sum_ps AS total_ps,
  m.sum_own_ps AS self_ps,
  COUNT(*) OVER () AS names,
  CAST(SUM(m.number) OVER () AS BIGINT) AS all_slices
FROM summed AS m
ORDER BY self_ps DESC NULLS LAST, total_ps DESC NULLS LAST, m.name NULLS LAST, m.op_type NULLS LAST
LIMIT $most

-- Slices by name
--
-- question: What are total, mean, shortest and longest duration of the slices of each name?
-- reads: slice
-- notes: The question to ask of any trace, whatever wrote it: every slice counts, marks and waits as
--   well. Durations include children, so names that nest count the same time more than once; self_ps
--   does not.
-- weakened_by: lost, capped, truncated
-- chart: bar x=name y=total_ps
-- columns:
--   name | text | Name | name as found
--   total_ps | ps | Total | durations with children, added up
--   mean_ps | ps | Mean | mean duration
--   min_ps | ps | Shortest | shortest duration
--   max_ps | ps | Longest | longest duration
--   slices | int | Count | how many slices
--   self_ps | ps | Self | self times, added up
WITH named AS (
  SELECT
    s.name,
    SUM(s.dur_ps) AS sum_dur_ps,
    SUM(s.self_ps) AS sum_self_ps,
    MIN(s.dur_ps) AS min_ps,
    MAX(s.dur_ps) AS max_ps,
    COUNT(*) AS slices
  FROM slice AS s
  GROUP BY s.name
)

SELECT
  n.name,
  bounded!(n.sum_dur_ps) AS total_ps,
  mean!(n.sum_dur_ps, n.slices) AS mean_ps,
  columns!(n, min_ps, max_ps, slices),
  bounded!(n.sum_self_ps) AS self_ps
FROM named AS n
ORDER BY nulls_last!(n.sum_dur_ps DESC, n.name)

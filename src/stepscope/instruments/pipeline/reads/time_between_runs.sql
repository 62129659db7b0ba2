-- How long after the run before did recorded runs begin, of those that averages include, where that is long?
--
-- reads: run_gap
-- parameters: sources
-- columns:
--   mean_gap_ps | ps | mean time between them; NULL where they follow each other closely
WITH sums AS (
  SELECT COUNT(*) AS number, SUM(g.gap_ps) AS gap_sum, SUM(g.dur_ps) AS run_sum
  FROM run_gap AS g
  WHERE g.source_id IN $sources AND g.averaged
)

SELECT
  CASE
    WHEN s.number > 0 AND runs_apart!(s.gap_sum, s.run_sum)
      THEN mean!(s.gap_sum, s.number)
  END AS mean_gap_ps
FROM sums AS s

-- Time between runs
--
-- question: How long after the run before did each recorded run begin, of those that averages include?
-- reads: run_gap
-- parameters:
--   sources | ints | sources to look at
-- columns:
--   gap_ps | ps | time between them
--   dur_ps | ps | duration of the later one
SELECT g.gap_ps, g.dur_ps
FROM run_gap AS g
WHERE g.source_id IN $sources AND g.averaged
ORDER BY nulls_last!(g.source_id, g.step_id)

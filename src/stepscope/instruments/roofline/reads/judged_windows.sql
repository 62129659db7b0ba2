-- The stretches of sources that are judged
--
-- question: How long is each source judged, and how many steps are in that?
-- reads: step_window
-- columns:
--   source_id
--   steps | int | steps that averages include
--   window_ps | ps | time recorded in between
--   steps_ps | ps | durations of those steps
SELECT w.source_id, w.steps, w.window_ps, w.steps_ps
FROM step_window AS w
ORDER BY w.source_id NULLS LAST

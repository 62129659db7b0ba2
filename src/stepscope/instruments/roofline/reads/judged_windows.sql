-- How long is each source judged, and how many steps are in that?
--
-- reads: step_window
-- columns:
--   source_id, steps, window_ps, steps_ps
SELECT w.source_id, w.steps, w.window_ps, w.steps_ps
FROM step_window AS w
ORDER BY w.source_id NULLS LAST

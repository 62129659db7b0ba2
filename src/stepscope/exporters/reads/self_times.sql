-- What was each slice called, how deep does it lie, and what time is its own?
--
-- reads: slice
-- columns:
--   track_id, depth, name, self_ps
SELECT s.track_id, s.depth, s.name, s.self_ps
FROM slice AS s
ORDER BY s.id NULLS LAST

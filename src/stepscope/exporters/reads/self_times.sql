-- Self times
--
-- question: What was each slice called, how deep does it lie, and what time is its own?
-- reads: slice
-- columns:
--   track_id | int | track it lies on
--   depth | int | 0 for a slice without a parent
--   name | text | name as found
--   self_ps | ps | duration without what lies on top of it
SELECT s.track_id, s.depth, s.name, s.self_ps
FROM slice AS s
ORDER BY s.id NULLS LAST

-- Which slices have a text in their name, whatever its case?
--
-- reads: slice, _source_shift
-- parameters:
--   text | text | what to look for
--   most | int | slices to list
-- columns:
--   id, track_id, name
--   begin_ps | ps | start on the axis of time
--   dur_ps
SELECT s.id, s.track_id, s.name, s.ts_ps + f.shift_ps AS begin_ps, s.dur_ps
FROM slice AS s
INNER JOIN _source_shift AS f ON f.source_id = s.source_id
WHERE STRPOS(LOWER(s.name), LOWER($text)) > 0
ORDER BY nulls_last!(begin_ps, s.id)
LIMIT $most

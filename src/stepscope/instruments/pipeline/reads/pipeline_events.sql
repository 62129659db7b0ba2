-- Which slices of a source belong to a pipeline, in the order in which they nest?
--
-- reads: _pipeline_slice, track
-- parameters: source_id, until_ps
-- columns:
--   slice_id, track_id
--   track | text | name of the thread
--   ts_ps, dur_ps, name, args_json, self_ps
--   track_kind | text | what the track really is: lanes are no threads
SELECT s.slice_id, s.track_id, k.name AS track, s.ts_ps, s.dur_ps, s.name, s.args_json, s.self_ps, k.kind AS track_kind
FROM _pipeline_slice AS s
INNER JOIN track AS k ON k.id = s.track_id
WHERE s.source_id = $source_id AND s.ts_ps + s.dur_ps <= $until_ps
ORDER BY nulls_last!(s.track_id, s.ts_ps, s.dur_ps DESC, s.slice_id)

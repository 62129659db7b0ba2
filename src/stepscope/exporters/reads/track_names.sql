-- Names of tracks
--
-- question: What are tracks called, and where do they belong?
-- reads: track
-- columns:
--   id | int | number of the track
--   process | text | process, device or group
--   name | text | the track's own name
--   run_id, host_id
SELECT t.id, t.process, t.name, t.run_id, t.host_id
FROM track AS t
ORDER BY t.id NULLS LAST

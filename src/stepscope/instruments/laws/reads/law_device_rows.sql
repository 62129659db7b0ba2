-- How many rows of a timeline show the work of an accelerator?
--
-- reads: track
-- columns:
--   tracks | int | how many
SELECT COUNT(*) AS tracks
FROM track AS t
WHERE t.kind = 'device_stream'

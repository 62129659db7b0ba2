-- How many accelerators does a source name?
--
-- reads: device
-- parameters: source_id
-- columns:
--   devices | int | how many
SELECT COUNT(*) AS devices
FROM device AS d
WHERE d.source_id = $source_id AND d.kind IN ('gpu', 'tpu')

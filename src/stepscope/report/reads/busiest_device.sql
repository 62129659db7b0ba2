-- Which GPU or other accelerator was busy longest?
--
-- reads: device_sum
-- columns:
--   device
SELECT d.device
FROM device_sum AS d
WHERE d.place = 'device' AND d.device_kind <> 'cpu' AND d.sum_busy_ps > 0
ORDER BY nulls_last!(d.sum_busy_ps DESC, d.device)
LIMIT 1

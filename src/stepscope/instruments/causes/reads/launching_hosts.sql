-- How long do hosts launch, where launches are rows of the device?
--
-- reads: rollup_op, track_place
-- columns:
--   run_id, host_id
--   launch_ps | ps | durations of launches, added up
SELECT r.run_id, r.host_id, sum!(r.total_ps) AS launch_ps
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id
WHERE p.place = 'launch'
GROUP BY r.run_id, r.host_id
ORDER BY nulls_last!(r.run_id, r.host_id)

-- On how many rows of each device do ops compute?
--
-- reads: rollup_op, track_place
-- columns:
--   source_id
--   device | text | name of the device
--   computing_rows | int | its rows with such ops
SELECT p.source_id, p.device, COUNT(DISTINCT p.track_id) AS computing_rows
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id
WHERE r.is_op AND r.class = 'compute' AND p.place IN ('device', 'host')
GROUP BY p.source_id, p.device
ORDER BY nulls_last!(p.source_id, p.device)

-- Which copies do the cores of a host's devices wait for, and for how long?
--
-- reads: rollup_op, track_place
-- parameters: run_id, host_id
-- columns:
--   name | text | the wait as the recording has it, with the shapes and memories that are copied
--   took_ps | ps | waits, added up over devices
SELECT r.name, sum!(r.total_ps) AS took_ps
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id
WHERE r.run_id = $run_id AND r.host_id = $host_id AND r.wait = 'copy' AND p.place = 'device'
GROUP BY r.name
ORDER BY nulls_last!(took_ps DESC, r.name)

-- Which ops of the program launched the kernels of one name on a host, and for how long did those run?
--
-- reads: slice, rollup_op, track_place, _launching_op
-- parameters: run_id, host_id
--   kernel | text | name of the kernels
-- columns:
--   op | text | op; NULL where none is known
--   took_ps | ps | what its kernels of that name took
SELECT l.launched_by AS op, sum!(COALESCE(s.op_self_ps, s.self_ps)) AS took_ps
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id AND p.place = 'device'
INNER JOIN slice AS s ON s.rollup_id = r.id
LEFT JOIN _launching_op AS l ON l.of_source = s.source_id AND l.of_correlation = s.correlation_id
WHERE r.run_id = $run_id AND r.host_id = $host_id AND r.name = $kernel AND r.op_name IS NULL
GROUP BY l.launched_by
ORDER BY nulls_last!(took_ps DESC, l.launched_by)

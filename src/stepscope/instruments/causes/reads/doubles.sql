-- How much of the time of ops goes to those that compute with 64-bit floats?
--
-- reads: _double_op
-- parameters: run_id, host_id
--   place | text | device or host
-- columns:
--   double_ps | ps | self times of these ops
--   all_ps | ps | self times of all ops that compute there
SELECT d.double_ps, d.all_ps
FROM _double_op AS d
WHERE d.run_id = $run_id AND d.host_id = $host_id AND d.place = $place AND d.position = 1
ORDER BY nulls_last!(d.double_ps DESC, d.all_ps)

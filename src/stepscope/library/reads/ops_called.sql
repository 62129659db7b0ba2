-- Which of these are names of ops that compute, on which hosts?
--
-- reads: _computing_op
-- parameters:
--   names | texts | names
-- columns:
--   run_id, host_id
--   op_name | text | one of the names
SELECT
  columns!(r, run_id, host_id, op_name)
FROM _computing_op AS r
WHERE r.op_name IN $names
GROUP BY r.run_id, r.host_id, r.op_name
ORDER BY nulls_last!(r.run_id, r.host_id, r.op_name)

-- Which runs are there?
--
-- reads: run
-- columns:
--   run_id, name, path
SELECT r.run_id, r.name, r.path
FROM run AS r
ORDER BY nulls_last!(r.run_id, r.name, r.path)

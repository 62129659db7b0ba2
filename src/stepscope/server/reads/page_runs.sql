-- Runs for a page
--
-- question: Which runs are there?
-- reads: run
-- columns:
--   run_id
--   name | text | its name as found
--   path | text | where it was found
SELECT r.run_id, r.name, r.path
FROM run AS r
ORDER BY nulls_last!(r.run_id, r.name, r.path)

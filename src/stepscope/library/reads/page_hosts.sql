-- Which hosts are there?
--
-- reads: host
-- columns:
--   run_id, host_id, name
SELECT h.run_id, h.host_id, h.name
FROM host AS h
ORDER BY nulls_last!(h.run_id, h.host_id, h.name)

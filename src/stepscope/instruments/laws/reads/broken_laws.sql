-- Which laws does the recording of each host break?
--
-- reads: broken_law
-- columns:
--   run_id, host_id, source_id, law, number, of_number, said
SELECT b.run_id, b.host_id, b.source_id, b.law, b.number, b.of_number, b.said
FROM broken_law AS b
ORDER BY b.id NULLS LAST

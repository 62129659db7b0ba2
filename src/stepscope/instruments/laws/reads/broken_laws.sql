-- Laws that sources break
--
-- question: Which laws does the recording of each host break?
-- reads: broken_law
-- columns:
--   run_id, host_id, source_id
--   law | text | name of the law
--   number | int | what breaks it
--   of_number | int | of how many
--   said | text | one sentence about it
SELECT b.run_id, b.host_id, b.source_id, b.law, b.number, b.of_number, b.said
FROM broken_law AS b
ORDER BY b.id NULLS LAST

-- Captures with samples
--
-- question: When did a source begin, and when did those begin that have samples of stacks?
-- reads: capture, stack_sample
-- parameters:
--   source_id | int | source to look at
-- columns:
--   source_id | int | number of the source
--   run_id | text | run of the source
--   host_id | text | host of the source
--   origin_unix_ns | unix_ns | Unix time of ts_ps = 0; NULL when the file does not say
WITH sampled AS (
  SELECT m.source_id AS sampled_id
  FROM stack_sample AS m
  GROUP BY m.source_id
)

SELECT c.source_id, c.run_id, c.host_id, c.origin_unix_ns
FROM capture AS c
LEFT JOIN sampled AS m ON m.sampled_id = c.source_id
WHERE c.source_id = $source_id OR m.sampled_id IS NOT NULL
ORDER BY c.source_id NULLS LAST, c.capture_id NULLS LAST

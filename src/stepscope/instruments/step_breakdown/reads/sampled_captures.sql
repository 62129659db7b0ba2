-- When did each source begin, and which have samples of stacks?
--
-- reads: capture, stack_sample
-- columns:
--   source_id, run_id, host_id, origin_unix_ns
--   has_samples | bool | true for those with samples
WITH sampled AS (
  SELECT m.source_id AS sampled_id
  FROM stack_sample AS m
  GROUP BY m.source_id
)

SELECT c.source_id, c.run_id, c.host_id, c.origin_unix_ns, m.sampled_id IS NOT NULL AS has_samples
FROM capture AS c
LEFT JOIN sampled AS m ON m.sampled_id = c.source_id
ORDER BY nulls_last!(c.source_id, c.capture_id)

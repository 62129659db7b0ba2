-- How many waits for an event of a device do not tell which stream recorded it?
--
-- reads: slice
-- columns:
--   source_id, run_id, host_id
--   waits | int | waits for an event
--   nameless | int | those that name no stream
WITH waits AS (
  SELECT
    columns!(s, source_id, run_id, host_id),
    arg!(s.args_json, wait_on_stream) AS stream
  FROM slice AS s
  WHERE s.category = 'cuda_sync' AND s.name LIKE '%Event%' AND s.args_json IS NOT NULL
)

SELECT
  columns!(w, source_id, run_id, host_id),
  CAST(COUNT(*) AS BIGINT) AS waits,
  CAST(sum_where!(w.stream = '-1', 1) AS BIGINT) AS nameless
FROM waits AS w
WHERE w.stream IS NOT NULL
GROUP BY w.source_id, w.run_id, w.host_id
ORDER BY w.source_id NULLS LAST

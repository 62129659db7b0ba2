-- Accelerators that were recorded
--
-- question: Which accelerators does each run name, and how many?
-- reads: device
-- columns:
--   of_run | text | run
--   model | text | what the recording says that they are, else their name
--   number | int | how many
WITH devices AS (
  SELECT
    d.run_id,
    d.host_id,
    d.name,
    MIN(NULLIF(JSON_EXTRACT_STRING(d.args_json, '$.name'), '')) AS told
  FROM device AS d
  WHERE d.kind IN ('gpu', 'tpu')
  GROUP BY d.run_id, d.host_id, d.name
)

SELECT m.of_run, m.model, COUNT(*) AS number
FROM (SELECT d.run_id AS of_run, COALESCE(d.told, d.name) AS model FROM devices AS d) AS m
GROUP BY m.of_run, m.model
ORDER BY m.of_run NULLS LAST, m.model NULLS LAST

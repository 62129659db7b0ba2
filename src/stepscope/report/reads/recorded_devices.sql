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
    columns!(d, run_id, host_id, name),
    MIN(arg!(d.args_json, name)) AS told
  FROM device AS d
  WHERE d.kind IN ('gpu', 'tpu')
  GROUP BY d.run_id, d.host_id, d.name
),

models AS (
  SELECT d.run_id, COALESCE(d.told, d.name) AS told_model
  FROM devices AS d
)

SELECT m.run_id AS of_run, m.told_model AS model, COUNT(*) AS number
FROM models AS m
GROUP BY m.run_id, m.told_model
ORDER BY nulls_last!(m.run_id, m.told_model)

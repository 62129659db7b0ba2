-- Which accelerators does each run name, and how many?
--
-- reads: device, track_place
-- notes: TensorFlow's Timeline calls each stream a device: of what has no model, only devices that did work are here.
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

working AS (
  SELECT p.run_id, p.host_id, p.device
  FROM track_place AS p
  WHERE p.place = 'device'
  GROUP BY p.run_id, p.host_id, p.device
),

models AS (
  SELECT d.run_id, COALESCE(d.told, d.name) AS told_model
  FROM devices AS d
  LEFT JOIN working AS w ON w.run_id = d.run_id AND w.host_id = d.host_id AND w.device = d.name
  WHERE d.told IS NOT NULL OR w.device IS NOT NULL
)

SELECT m.run_id AS of_run, m.told_model AS model, COUNT(*) AS number
FROM models AS m
GROUP BY m.run_id, m.told_model
ORDER BY nulls_last!(m.run_id, m.told_model)

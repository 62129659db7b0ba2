-- What recordings say of their devices
--
-- question: Which devices did recordings use, and what do they say of them?
-- reads: device
-- columns:
--   source_id | int | source that names it
--   run_id | text | run it was used in
--   host_id | text | host it belongs to
--   name | text | name as found
--   kind | text | cpu, gpu, tpu or unknown
--   args_json | text | what else is known of it
SELECT d.source_id, d.run_id, d.host_id, d.name, d.kind, d.args_json
FROM device AS d
ORDER BY d.id NULLS LAST

-- Which devices did recordings use, and what do they say of them?
--
-- reads: device
-- columns:
--   source_id, run_id, host_id, name, kind
--   args_json | text | what else is known of it
SELECT d.source_id, d.run_id, d.host_id, d.name, d.kind, d.args_json
FROM device AS d
ORDER BY d.id NULLS LAST

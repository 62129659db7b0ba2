-- Which transformations do captures of a run on a host hold?
--
-- reads: user_stage
-- parameters: run_id, host_id
-- columns:
--   iterator, position, transformation, dataset, file, line, text, args_json
SELECT u.iterator, u.position, u.transformation, u.dataset, u.file, u.line, u.text, u.args_json
FROM user_stage AS u
WHERE u.run_id = $run_id AND u.host_id = $host_id
ORDER BY u.id NULLS LAST

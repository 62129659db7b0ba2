-- Transformations as the user wrote them
--
-- question: Which transformations do captures of a run on a host hold?
-- reads: user_stage
-- parameters:
--   run_id | text | run
--   host_id | text | host
-- columns:
--   iterator | int | number of the iterator within the capture
--   position | int | place in the chain, from 0 at the source
--   transformation | text | as one writes it
--   dataset | text | TensorFlow's name of it
--   file | text | file that contains it
--   line | int | line in that file
--   text | text | the line itself
--   args_json | text | its small arguments, as a JSON object
SELECT u.iterator, u.position, u.transformation, u.dataset, u.file, u.line, u.text, u.args_json
FROM user_stage AS u
WHERE u.run_id = $run_id AND u.host_id = $host_id
ORDER BY u.id NULLS LAST

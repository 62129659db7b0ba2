-- How much of their steps do programs of PyTorch wait for a batch, and on which lines?
--
-- reads: _label_line, source
-- notes: The line that takes most comes first. A host whose steps wait for nothing has no row.
-- columns:
--   run_id, host_id, steps_ps
--   wait_ps | ps | what they wait for batches
--   file, line, function
WITH recorded AS (
  SELECT s.run_id AS in_run, s.host_id AS in_host
  FROM source AS s
  WHERE s.framework = 'pytorch'
  GROUP BY s.run_id, s.host_id
)

SELECT l.run_id, l.host_id, l.steps_ps, l.label_ps AS wait_ps, l.file, l.line, l.function
FROM _label_line AS l
INNER JOIN recorded AS k ON k.in_run = l.run_id AND k.in_host = l.host_id
WHERE l.label = 'input'
ORDER BY nulls_last!(l.run_id, l.host_id, l.line_ps DESC, l.file, l.line, l.function)

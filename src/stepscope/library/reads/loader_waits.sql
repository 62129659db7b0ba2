-- Waiting for DataLoaders
--
-- question: How much of their steps do programs of PyTorch wait for a batch, and on which lines?
-- reads: _label_line, source
-- notes: The line that takes most comes first. A host whose steps wait for nothing has no row.
-- columns:
--   run_id | text | run of the steps
--   host_id | text | host of the steps
--   steps_ps | ps | durations of the steps, added up
--   wait_ps | ps | what they wait for batches
--   file | text | file of the program; NULL without samples of stacks
--   line | int | line that ran
--   function | text | function that contains the line
SELECT l.run_id, l.host_id, l.steps_ps, l.label_ps AS wait_ps, l.file, l.line, l.function
FROM _label_line AS l
INNER JOIN (SELECT DISTINCT s.run_id, s.host_id FROM source AS s WHERE s.producer = 'kineto') AS k
  ON k.run_id = l.run_id AND k.host_id = l.host_id
WHERE l.label = 'input'
ORDER BY
  l.run_id NULLS LAST, l.host_id NULLS LAST, l.line_ps DESC NULLS LAST, l.file NULLS LAST, l.line NULLS LAST,
  l.function NULLS LAST

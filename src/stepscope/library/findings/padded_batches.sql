-- Batches are padded to a length that no row has
--
-- question: Which loader makes batches whose last columns are alike in every row?
-- reads: _label_line, user_stage
-- severity: medium; only where steps compute for at least half of their time
-- impact: The last {padded} of {columns} columns {padded:holds|hold} one value in every row, in the first {looked_at}
--   {looked_at:batch|batches} of the loader[ made in {file}:{line}]: padding. What is computed for these columns tells
--   the model nothing.
-- action: Pad to the longest row of each batch instead of a fixed length, and put rows of like length into one batch.
-- notes: The recorder looks at the widest array of whole numbers in the first batches of each DataLoader of PyTorch.
-- weakened_by: no-steps
-- reasoning: A model computes with padding as with all else, and attention does so for each pair of columns. Masks keep
--   it out of the result, and not out of the time.
-- formula: padded = columns at the end of a batch whose rows all hold the same value; reported from half of the columns
--   on. impact = time labelled compute * padded / columns.
-- columns:
--   severity | text | Severity | medium
--   impact_ps | ps | Impact | that part of what steps compute
--   run_id, host_id
--   padded | int | Padded | columns of a mean batch that are alike in every row, at its end
--   columns | int | Columns | columns of a mean batch
--   looked_at | int | Batches | batches that were looked at
--   file | text | File | file where the loader is made
--   line | int | Line | line in that file
--   function | text | Function | function there
WITH loaders AS (
  SELECT
    columns!(u, run_id, host_id, iterator, file, line, function),
    TRY_CAST(arg!(u.args_json, padded_columns) AS BIGINT) AS alike,
    TRY_CAST(arg!(u.args_json, columns) AS BIGINT) AS all_columns,
    TRY_CAST(arg!(u.args_json, looked_at) AS BIGINT) AS batches
  FROM user_stage AS u
  WHERE u.transformation = 'DataLoader'
),

computing AS (
  SELECT l.run_id AS in_run, l.host_id AS in_host, l.label_ps
  FROM _label_line AS l
  WHERE l.label = 'compute' AND l.label_ps * 2 >= l.steps_ps
)

SELECT
  'medium' AS severity,
  whole!(MAX(c.label_ps) * (CAST(l.alike AS DOUBLE) / l.all_columns)) AS impact_ps,
  columns!(l, run_id, host_id),
  mean!(l.alike, l.batches) AS padded,
  mean!(l.all_columns, l.batches) AS columns,
  l.batches AS looked_at,
  columns!(l, file, line, function)
FROM loaders AS l
INNER JOIN computing AS c ON c.in_run = l.run_id AND c.in_host = l.host_id
WHERE l.batches > 0 AND l.alike * 2 >= l.all_columns
GROUP BY columns!(l, run_id, host_id, iterator, file, line, function, alike, all_columns, batches)
ORDER BY nulls_last!(impact_ps DESC, l.run_id, l.host_id, l.iterator, l.file, l.line)

-- Most of the batches is padding
--
-- question: Which loader makes batches that hold more padding than data?
-- reads: _label_line, user_stage
-- severity: medium; only where steps compute for at least half of their time
-- impact: {share} of the cells of the first {looked_at} {looked_at:batch|batches} [made in {file}:{line} ]pad rows behind
--   their ends[; the last {padded} of {columns} columns {padded:holds|hold} nothing else]. What is computed for these
--   cells tells the model nothing.
-- action: Put rows of like length into one batch, and pad these to the longest of them instead of a fixed length. In
--   tf.data, bucket_by_sequence_length does both.
-- notes: The recorder looks at the widest array of whole numbers in the first batches of each DataLoader of PyTorch, and
--   of each iterator of tf.data from which Python takes them.
-- weakened_by: no-steps
-- reasoning: A model computes with padding as with all else, and attention does so for each pair of columns. Masks keep
--   it out of the result, and not out of the time.
-- formula: share = cells at the ends of rows that hold the value with which most rows end, unless rows have it before
--   their end as well / all cells; reported from a half on. impact = time labelled compute * share.
-- columns:
--   impact_ps | ps | Impact | that part of what steps compute
--   run_id, host_id
--   share | ratio | Padding | cells that pad as part of all
--   padded | int | Padded | columns of a mean batch that are alike in every row, at its end; NULL for none
--   columns | int | Columns | columns of a mean batch
--   looked_at | int | Batches | batches that were looked at
--   file | text | File | file of the stage that pads, or where the loader is made
--   line | int | Line | line in that file
--   function | text | Function | function there
WITH loaders AS (
  SELECT
    columns!(u, run_id, host_id, iterator, position, file, line, function),
    TRY_CAST(arg!(u.args_json, padded_columns) AS BIGINT) AS alike,
    TRY_CAST(arg!(u.args_json, columns) AS BIGINT) AS all_columns,
    TRY_CAST(COALESCE(
      arg!(u.args_json, padded_cells),
      arg!(u.args_json, padded_columns)
    ) AS BIGINT) AS pads,
    TRY_CAST(COALESCE(
      arg!(u.args_json, cells),
      arg!(u.args_json, columns)
    ) AS BIGINT) AS cells,
    TRY_CAST(arg!(u.args_json, looked_at) AS BIGINT) AS batches
  FROM user_stage AS u
),

computing AS (
  SELECT l.run_id AS in_run, l.host_id AS in_host, l.label_ps
  FROM _label_line AS l
  WHERE l.label = 'compute' AND l.label_ps * 2 >= l.steps_ps
)

SELECT
  'medium' AS severity,
  whole!(MAX(c.label_ps) * share!(l.pads, l.cells)) AS impact_ps,
  columns!(l, run_id, host_id),
  share!(l.pads, l.cells) AS share,
  NULLIF(mean!(l.alike, l.batches), 0) AS padded,
  mean!(l.all_columns, l.batches) AS columns,
  l.batches AS looked_at,
  columns!(l, file, line, function)
FROM loaders AS l
INNER JOIN computing AS c ON c.in_run = l.run_id AND c.in_host = l.host_id
WHERE l.batches > 0 AND l.cells > 0 AND l.pads * 2 >= l.cells
GROUP BY
  columns!(l, run_id, host_id, iterator, position, file, line, function),
  columns!(l, alike, all_columns, pads, cells, batches)
ORDER BY nulls_last!(impact_ps DESC, l.run_id, l.host_id, l.iterator, l.position)

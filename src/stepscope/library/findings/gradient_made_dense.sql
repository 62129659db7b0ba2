-- The gradient of a lookup is made as large as its table
--
-- question: Which tables does a program of TensorFlow 1 update whole, since it made a sparse gradient dense?
-- reads: _densified_table
-- severity: high from half of the time of all ops, medium from a quarter, low from a tenth
-- impact: {scope} works on all rows of a table of which a step looks up at most {used_rows}. Ops on all of them take
--   {share} of the time of all ops: {impact_ps}.
-- action: Compute with the values of the tf.IndexedSlices that tf.gradients gives, and put them together again: what
--   multiplies or clips them as a tensor adds them up into one of all rows. Then take LazyAdam
--   (tf.contrib.opt.LazyAdamOptimizer) instead of Adam, or an optimizer that works on single rows by itself, as Adagrad.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: The gradient of a lookup has the rows that were looked up, and an optimizer can update only those. As a
--   tensor of all rows it is zero in nearly all of them, and each op that follows works on these as well.
-- formula: share = self times of ops that make a tensor of the shape of a table of 4 MiB or more / those of all ops that
--   compute on the host; where one of them is an UnsortedSegmentSum of at most a tenth of its bytes, one an
--   optimizer's, and none a product. Reported from 0.1.
-- columns:
--   impact_ps | ps | Self | self times of these ops, added up
--   run_id, host_id
--   scope | text | Scope | scope of the update
--   share | ratio | Share | part of the time of all ops
--   used_rows | int | Used rows | the most rows that a step looks up
SELECT
  severity!(t.table_ps, t.all_ps) AS severity,
  t.table_ps AS impact_ps,
  columns!(t, run_id, host_id, scope),
  share!(t.table_ps, t.all_ps) AS share,
  t.used_rows
FROM _densified_table AS t
WHERE t.table_ps * 10 >= t.all_ps
ORDER BY nulls_last!(t.table_ps DESC, t.run_id, t.host_id, t.scope)

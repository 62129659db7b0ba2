-- Cost by name scope
--
-- question: Which name scopes hold the parameters, take the time and do the operations?
-- reads: tfprof_node
-- notes: The two outermost levels of tfprof's scope view, with everything below them; an inner scope is
--   part of the outer one, so never add levels up. For several steps the figures are means. With
--   RunMetadata or a graph, TensorFlow's tfprof rules apply; otherwise slices count, which know no
--   parameters.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=scope y=all_ps
-- columns:
--   scope | text | Scope | name of the scope or node
--   level | int | Level | 1 for the outermost
--   all_ps | ps | Time | time on accelerators and on devices that schedule ops, added up
--   on_accelerators_ps | ps | Kernels | time of kernels on accelerators
--   all_params | int | Parameters | elements of variables
--   all_float_ops | int | Operations | floating point operations
--   asked_bytes | bytes | Bytes | bytes asked for; in a trace, read and written
--   all_runs | int | Runs | executions
SELECT
  n.name AS scope,
  n.depth AS level,
  n.total_ps AS all_ps,
  n.total_accelerator_ps AS on_accelerators_ps,
  n.total_params AS all_params,
  n.total_float_ops AS all_float_ops,
  n.total_requested_bytes AS asked_bytes,
  n.total_runs AS all_runs
FROM tfprof_node AS n
WHERE n.view = 'scope' AND n.depth IN (1, 2)
ORDER BY nulls_last!(n.total_ps DESC, n.total_params DESC, n.name, n.id)

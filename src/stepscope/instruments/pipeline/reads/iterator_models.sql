-- tf.data's own models
--
-- question: What do the models of iterators say that captures of a run on a host hold?
-- reads: iterator_model
-- parameters:
--   run_id | text | run
--   host_id | text | host
-- columns:
--   iterator | int | number of the iterator within the capture
--   sample | int | number of the sample
--   node | int | the model's number of the stage
--   consumer_node | int | the stage that takes its elements
--   inputs_json | text | numbers of the stages it takes from
--   name | text | long name, as in iterator
--   node_class | text | how elements and inputs are related
--   ratio | float | elements it takes for one of its own
--   num_elements | int | elements it has made
--   bytes_produced | bytes | their bytes
--   buffered_elements | int | elements in its buffer
--   processing_ps | ps | time in the stage itself, over all threads
--   parallelism | float | calls of its function that may run at once
--   parallelism_max | float | most that autotune may choose
--   autotuned | bool | autotune may turn its parallelism
--   buffer_size | float | elements its buffer may hold
--   gaps | int | of the root: calls that gap_ps is the mean of
--   gap_ps | ps | of the root: the consumer's own time between two calls
--   cpu_budget | int | cores that autotune may use
--   ram_budget_bytes | bytes | bytes that autotune may fill with buffers
SELECT
  m.iterator, m.sample, m.node, m.consumer_node, m.inputs_json, m.name, m.node_class, m.ratio, m.num_elements,
  m.bytes_produced, m.buffered_elements, m.processing_ps, m.parallelism, m.parallelism_max, m.autotuned, m.buffer_size,
  m.gaps, m.gap_ps, m.cpu_budget, m.ram_budget_bytes
FROM iterator_model AS m
WHERE m.run_id = $run_id AND m.host_id = $host_id
ORDER BY m.id NULLS LAST

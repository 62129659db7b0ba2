-- What do the models of iterators say that captures of a run on a host hold?
--
-- reads: iterator_model
-- parameters: run_id, host_id
-- columns:
--   iterator, sample, node, consumer_node, inputs_json, name, node_class, ratio, num_elements, bytes_produced
--   buffered_elements, processing_ps, parallelism, parallelism_max, autotuned, buffer_size, gap_ps, cpu_budget
--   ram_budget_bytes
SELECT
  m.iterator, m.sample, m.node, m.consumer_node, m.inputs_json, m.name, m.node_class, m.ratio, m.num_elements,
  m.bytes_produced, m.buffered_elements, m.processing_ps, m.parallelism, m.parallelism_max, m.autotuned, m.buffer_size,
  m.gap_ps, m.cpu_budget, m.ram_budget_bytes
FROM iterator_model AS m
WHERE m.run_id = $run_id AND m.host_id = $host_id
ORDER BY m.id NULLS LAST

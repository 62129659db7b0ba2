-- How much memory do the compiled programs take, and for what?
--
-- reads: hlo_module
-- columns:
--   module_id | int | row of hlo_module
--   module, program_id, file, parameter_bytes, output_bytes, constant_bytes, thread_local_bytes, temp_bytes
--   alias_bytes, allocated_bytes
SELECT
  m.id AS module_id,
  columns!(m,
    module, program_id, file, parameter_bytes, output_bytes, constant_bytes, thread_local_bytes, temp_bytes,
    alias_bytes, allocated_bytes
  )
FROM hlo_module AS m
WHERE m.allocated_bytes IS NOT NULL
ORDER BY nulls_last!(m.allocated_bytes DESC, m.id)

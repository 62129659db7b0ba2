-- Memory of programs by what it is for
--
-- question: How much memory do the compiled programs take, and for what?
-- reads: hlo_module
-- columns:
--   module_id | int | row of hlo_module
--   module | text | name of the HLO module
--   program_id | text | its number in the process that compiled it
--   file | text | file that the figures are from
--   parameter_bytes | bytes | parameters
--   output_bytes | bytes | results that are no parameters
--   constant_bytes | bytes | constants
--   thread_local_bytes | bytes | memory of threads
--   temp_bytes | bytes | values in between
--   alias_bytes | bytes | parameters whose memory results take over
--   allocated_bytes | bytes | all that a run takes
SELECT
  m.id AS module_id,
  columns!(m,
    module, program_id, file, parameter_bytes, output_bytes, constant_bytes, thread_local_bytes, temp_bytes,
    alias_bytes, allocated_bytes
  )
FROM hlo_module AS m
WHERE m.allocated_bytes IS NOT NULL
ORDER BY nulls_last!(m.allocated_bytes DESC, m.id)

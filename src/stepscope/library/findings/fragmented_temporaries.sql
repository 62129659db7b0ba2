-- Temporary memory is reserved that is never needed at once
--
-- question: Which programs reserve temporary memory that they never need at once?
-- reads: _dumped_program, hlo_module
-- severity: low
-- impact: {program}: of its temporaries, {unused_bytes} of {temp_bytes} are never needed at once: alignment and
--   fragmentation.
-- action: stepscope memory shows who holds the rest; smaller or equally sized buffers pack better.
-- reasoning: Buffers that live at different times share an allocation, with gaps of alignment and fragmentation.
-- formula: temporaries - least heap > 1 MiB and > a tenth of the temporaries.
-- columns:
--   run_id, program, module, program_id
--   unused_bytes | bytes | Unused | of the temporaries
--   temp_bytes | bytes | Of | all temporaries
SELECT
  'low' AS severity,
  columns!(p, run_id, program, module, program_id),
  m.temp_bytes - m.heap_needed_bytes AS unused_bytes,
  m.temp_bytes
FROM _dumped_program AS p
INNER JOIN hlo_module AS m ON m.id = p.module_id
WHERE p.is_final AND m.heap_needed_bytes > 0 AND m.temp_bytes - m.heap_needed_bytes > 1048576
  AND m.temp_bytes - m.heap_needed_bytes > 0.1 * m.temp_bytes
ORDER BY nulls_last!(m.temp_bytes - m.heap_needed_bytes DESC, p.module_id)

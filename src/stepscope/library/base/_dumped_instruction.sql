-- Which instructions do the programs have that dump folders hold to their end?
--
-- reads: hlo_instruction, hlo_module, _dumped_program
-- columns:
--   id, run_id, module_id, pass_id, module, program_id, program, work_share, computation, name, opcode, target, shape
--   shape_bytes, trip_count, times, run_flops, run_bytes, op_name, file, line
--   all_flops | flop | of a run of the program
--   all_bytes | bytes | that a run of the program reads and writes
--   allocated_bytes
SELECT
  columns!(i, id, run_id, module_id, pass_id),
  columns!(p, module, program_id, program, work_share),
  columns!(i,
    computation, name, opcode, target, shape, shape_bytes, trip_count, times, run_flops, run_bytes, op_name, file, line
  ),
  m.run_flops AS all_flops,
  m.run_bytes AS all_bytes,
  m.allocated_bytes
FROM _dumped_program AS p
INNER JOIN hlo_module AS m ON m.id = p.module_id
INNER JOIN hlo_instruction AS i ON i.module_id = p.module_id AND i.stage = m.stage
WHERE p.is_final

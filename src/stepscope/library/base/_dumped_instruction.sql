-- Instructions of programs of dump folders
--
-- question: Which instructions do the programs have that dump folders hold to their end?
-- reads: hlo_instruction, hlo_module, _dumped_program
-- columns:
--   id | int | Instruction | row of hlo_instruction
--   run_id
--   module_id | int | Module | row of hlo_module
--   pass_id | int | Stage | row of hlo_pass
--   module, program_id
--   program | text | Program | as in _dumped_program
--   work_share | ratio | Work | as in _dumped_program
--   computation | text | Computation | computation that it is in
--   name | text | Instruction | name of the instruction
--   opcode | text | Opcode | what it does
--   target | text | Target | what a custom call calls
--   shape | text | Shape | what it makes
--   shape_bytes | bytes | Size | size of that
--   trip_count | float | Trips | how often a loop is known to go round
--   times | float | Times | how often it runs in a run of the program
--   run_flops | flop | Flops | of one execution
--   run_bytes | bytes | Bytes | that one execution reads and writes
--   op_name | text | Op | the framework's name of the op it was made of
--   file | text | File | file of the Python call that made it
--   line | int | Line | line in that file
--   all_flops | flop | Program's flops | of a run of the program
--   all_bytes | bytes | Program's bytes | that a run of the program reads and writes
--   allocated_bytes | bytes | Memory | that a run of the program takes
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

-- Memory of compiled programs
--
-- question: Which values hold the memory of the compiled programs at their peak, and which line made them?
-- reads: hlo_buffer, hlo_instruction
-- notes: From the buffer assignment that a dump has after optimization, and XPlanes of JAX. Parameters, results and
--   constants are held all the time; temporary values are listed that live when the heap needs most.
-- columns:
--   run_id | text | Run | name of the run
--   module, program_id
--   class | text | For | parameter, output, constant, thread_local or temp
--   held_bytes | bytes | Size | memory that it holds
--   instruction | text | Instruction | instruction that makes it
--   opcode | text | Opcode | what that does
--   op | text | Op | the framework's name of the op it was made of
--   file | text | File | file of the Python call that made it
--   line | int | Line | line in that file
SELECT
  columns!(b, run_id, module, program_id, class),
  b.bytes AS held_bytes,
  b.instruction,
  i.opcode,
  i.op_name AS op,
  columns!(i, file, line)
FROM hlo_buffer AS b
LEFT JOIN hlo_instruction AS i
  ON i.module_id = b.module_id AND COALESCE(i.pass_id, -1) = COALESCE(b.pass_id, -1) AND i.name = b.instruction
WHERE b.at_peak AND b.bytes > 0
ORDER BY nulls_last!(b.module_id, b.bytes DESC, b.id)

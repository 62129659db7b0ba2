-- Compiled instructions by cost
--
-- question: Which instructions of the compiled programs do the most work or move the most bytes?
-- reads: hlo_instruction, hlo_module
-- notes: Of XPlanes and dump folders, the programs that run. A fusion is one instruction: what is fused runs as one
--   kernel. Loops, calls and branches cost what is in them, which has rows of its own. Figures are those of a whole run:
--   of one execution, times how often the instruction runs.
-- columns:
--   run_id | text | Run | name of the run
--   module, program_id
--   name | text | Instruction | name of the instruction
--   opcode | text | Opcode | what it does
--   times | float | Times | how often it runs in a run of the program
--   total_flops | float | Flops | floating-point operations of a run
--   total_bytes | float | Bytes moved | bytes read and written in a run
--   bytes_share | ratio | Share | part of the bytes that the program moves
--   shape | text | Shape | what it makes
--   op | text | Op | the framework's name of the op it was made of
--   file | text | File | file of the Python call that made it
--   line | int | Line | line in that file
SELECT
  columns!(i, run_id, module, program_id, name, opcode, times),
  i.run_flops * i.times AS total_flops,
  i.run_bytes * i.times AS total_bytes,
  CASE WHEN m.run_bytes > 0 THEN CAST(i.run_bytes * i.times AS DOUBLE) / m.run_bytes END AS bytes_share,
  i.shape,
  i.op_name AS op,
  columns!(i, file, line)
FROM hlo_instruction AS i
INNER JOIN hlo_module AS m ON m.id = i.module_id
WHERE
  m.is_final AND (i.pass_id IS NULL OR i.stage = m.stage) AND i.times > 0 AND (i.run_flops > 0 OR i.run_bytes > 0)
  AND i.opcode NOT IN ('while', 'call', 'conditional', 'async-start')
ORDER BY nulls_last!(total_bytes DESC, total_flops DESC, i.id)

-- Which instructions does each compiled program have that runs, and what does each cost?
--
-- reads: hlo_instruction, hlo_module, hlo_computation
-- notes: Programs that recordings keep, and the last stages of dumps. Costs are of one execution, loops in it as often
--   as they go round.
-- columns:
--   run_id, source_id, module_id
--   recorded | bool | true when a recording keeps the program, false when a dump does
--   program_id, module
--   file | text | file that keeps the program
--   computation, is_entry, name, opcode, calls_json, run_flops, run_transcendentals, run_bytes
--   is_known | bool | false when something in it has an unknown cost
--   trip_count, op_name
--   in_file | text | file of the innermost Python call that made it
--   on_line | int | line in that file
SELECT
  columns!(h, run_id, source_id, module_id),
  h.pass_id IS NULL AS recorded,
  columns!(h, program_id, module),
  m.file,
  h.computation,
  c.is_entry,
  columns!(h, name, opcode, calls_json, run_flops, run_transcendentals, run_bytes),
  h.run_custom_calls = 0 AND h.run_open_loops = 0 AS is_known,
  columns!(h, trip_count, op_name),
  h.file AS in_file,
  h.line AS on_line
FROM hlo_instruction AS h
INNER JOIN hlo_module AS m ON m.id = h.module_id
INNER JOIN hlo_computation AS c
  ON c.module_id = h.module_id AND COALESCE(c.pass_id, -1) = COALESCE(h.pass_id, -1) AND c.name = h.computation
WHERE m.is_final AND (h.pass_id IS NULL OR h.stage = m.stage)
ORDER BY nulls_last!(h.source_id, h.module_id, h.id)

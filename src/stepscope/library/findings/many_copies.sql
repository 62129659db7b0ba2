-- Many instructions copy or transpose
--
-- question: In which programs are many instructions copies or transposes?
-- reads: _dumped_program, hlo_module
-- severity: low
-- impact: {program}: {copies} of {instructions} instructions copy or transpose.
-- action: Keep one layout through the model, or transpose weights once.
-- reasoning: Each copy is one more instruction to start, however little it moves.
-- formula: copies and transposes >= 10, and more than a tenth of the instructions.
-- columns:
--   run_id, program, module, program_id
--   copies | int | Copies | copies and transposes in the program
--   instructions | int | Of | instructions of the program
SELECT
  'low' AS severity,
  columns!(p, run_id, program, module, program_id),
  columns!(m, copies, instructions)
FROM _dumped_program AS p
INNER JOIN hlo_module AS m ON m.id = p.module_id
WHERE p.is_final AND m.copies >= 10 AND m.copies > 0.1 * m.instructions
ORDER BY nulls_last!(m.copies DESC, p.module_id)

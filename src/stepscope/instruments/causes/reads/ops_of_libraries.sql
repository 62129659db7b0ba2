-- Which op of the program is behind each instruction that XLA hands to a library?
--
-- reads: rollup_op, _library_instruction
-- columns:
--   op_type | text | type of the instruction, as the recording has it
--   written_type | text | type of the op of the program that it was made for
--   own_ps | ps | own time of such instructions
SELECT
  r.op_type,
  h.program_type AS written_type,
  CAST(SUM(COALESCE(r.op_self_ps, r.self_ps)) AS BIGINT) AS own_ps
FROM rollup_op AS r
INNER JOIN _library_instruction AS h ON h.run_id = r.run_id AND h.name = r.op_name
WHERE r.is_op AND r.op_type IS NOT NULL
GROUP BY r.op_type, h.program_type
ORDER BY nulls_last!(r.op_type, h.program_type)

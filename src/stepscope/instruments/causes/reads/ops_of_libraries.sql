-- Which op of the program is behind each instruction that XLA hands to a library?
--
-- reads: rollup_op, _written_instruction
-- notes: Calls of libraries, and fusions that are made for one: their names say who runs them, not what the program
--   asked for.
-- columns:
--   op_type | text | type of the instruction, as the recording has it
--   written_op | text | scopes and op of the program that it was made for
--   own_ps | ps | own time of such instructions
SELECT
  r.op_type,
  h.written_op,
  CAST(SUM(COALESCE(r.op_self_ps, r.self_ps)) AS BIGINT) AS own_ps
FROM rollup_op AS r
INNER JOIN _written_instruction AS h ON h.run_id = r.run_id AND h.name = r.op_name
WHERE r.is_op AND r.op_type IS NOT NULL AND h.written_op IS NOT NULL
  AND (h.opcode = 'custom-call' OR (h.opcode = 'fusion' AND h.fusion_kind = 'kCustom'))
GROUP BY r.op_type, h.written_op
ORDER BY nulls_last!(r.op_type, h.written_op)

-- Which op of the program is behind each instruction that XLA hands to a library?
--
-- reads: _written_instruction
-- notes: The names of these say who runs them, not what the program asked for. A name that several programs have, for
--   ops of several types, is left out.
-- columns:
--   run_id, name
--   program_type | text | type of the op of the program that it was made for
SELECT w.run_id, w.name, MIN(w.written_type) AS program_type
FROM _written_instruction AS w
WHERE w.goes_by_op = 1
GROUP BY w.run_id, w.name
HAVING MIN(w.written_type) = MAX(w.written_type)

-- Which line of the program made each instruction of the compiled programs of a run?
--
-- reads: _written_instruction
-- notes: Programs name their instructions alike. A name that lines of several programs made is left out.
-- parameters: run_id
-- columns:
--   name
--   made_in | text | file of the line
--   made_on | int | line in that file
--   made_within | text | function that contains that line
SELECT h.name, MIN(h.in_file) AS made_in, MIN(h.on_line) AS made_on, MIN(h.in_function) AS made_within
FROM _written_instruction AS h
WHERE h.run_id = $run_id AND h.in_file IS NOT NULL AND h.on_line IS NOT NULL
GROUP BY h.name
HAVING MIN(h.in_file) = MAX(h.in_file) AND MIN(h.on_line) = MAX(h.on_line)
ORDER BY h.name NULLS LAST

-- Which line of the program made each instruction of the compiled programs of a run?
--
-- reads: hlo_instruction
-- notes: Programs name their instructions alike. A name that lines of several programs made is left out.
--   Of programs in dump folders, the one that runs counts.
-- parameters: run_id
-- columns:
--   name
--   in_file | text | file of the line
--   on_line | int | line in that file
SELECT h.name, MIN(h.file) AS in_file, MIN(h.line) AS on_line
FROM hlo_instruction AS h
WHERE
  h.run_id = $run_id AND h.file IS NOT NULL AND h.line IS NOT NULL
  AND (h.stage IS NULL OR h.stage LIKE '%after_optimizations%')
GROUP BY h.name
HAVING MIN(h.file) = MAX(h.file) AND MIN(h.line) = MAX(h.line)
ORDER BY h.name NULLS LAST

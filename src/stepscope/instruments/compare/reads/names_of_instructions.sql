-- Which op of the framework was each instruction of a run's compiled programs made of, and on which line?
--
-- reads: hlo_instruction
-- notes: Programs name their instructions alike. A name that was made of several ops is left out.
--   Of programs in dump folders, the one that runs counts.
-- parameters: run_id
-- columns:
--   name
--   made_of | text | the framework's name of the op
--   in_file | text | file of the line; NULL where several lines made it
--   on_line | int | line in that file
SELECT
  h.name,
  MIN(h.op_name) AS made_of,
  CASE WHEN MIN(h.file) = MAX(h.file) AND MIN(h.line) = MAX(h.line) THEN MIN(h.file) END AS in_file,
  CASE WHEN MIN(h.file) = MAX(h.file) AND MIN(h.line) = MAX(h.line) THEN MIN(h.line) END AS on_line
FROM hlo_instruction AS h
WHERE
  h.run_id = $run_id AND h.op_name IS NOT NULL AND h.op_name <> ''
  AND (h.stage IS NULL OR h.stage LIKE '%after_optimizations%')
GROUP BY h.name
HAVING MIN(h.op_name) = MAX(h.op_name)
ORDER BY h.name NULLS LAST

-- Frames of stacks
--
-- question: Which frame does each stack add to the one around it?
-- reads: stack, frame
-- columns:
--   id | int | number of the stack
--   parent_id | int | the stack around it
--   function | text | function of its innermost frame
--   file | text | file of that function
--   line | int | line in that file
--   code | text | whose code it is: program, library, python, native or unknown
SELECT k.id, k.parent_id, f.function, f.file, f.line, f.code
FROM stack AS k
INNER JOIN frame AS f ON f.id = k.frame_id
ORDER BY k.id NULLS LAST

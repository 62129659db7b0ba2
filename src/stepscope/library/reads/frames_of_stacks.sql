-- Frames of stacks
--
-- question: Which frame does each stack of some sources add to the one around it?
-- reads: stack, frame
-- notes: A stack has a greater number than the one that it continues.
-- parameters:
--   sources | ints | sources to look at
-- columns:
--   source_id | int | source that has the stack
--   id | int | number of the stack
--   parent_id | int | the stack around it
--   file | text | file of its innermost frame
--   line | int | line in that file
--   function | text | function that contains the line
--   code | text | whose code it is: program, library, python, native or unknown
--   has_loop | bool | true when the loop of the steps is in this function; NULL when nobody says
SELECT k.source_id, k.id, k.parent_id, f.file, f.line, f.function, f.code, f.has_loop
FROM stack AS k
INNER JOIN frame AS f ON f.id = k.frame_id
WHERE k.source_id IN $sources
ORDER BY k.id NULLS LAST

-- Frames of one stack
--
-- question: Which calls does a stack consist of?
-- reads: stack_frame, frame
-- parameters:
--   stack_id | int | the stack
-- columns:
--   function | text | function
--   file | text | its file
--   line | int | line that ran
--   code | text | whose code it is: program, library, python, native or unknown
SELECT r.function, r.file, r.line, r.code
FROM stack_frame AS f
INNER JOIN frame AS r ON r.id = f.frame_id
WHERE f.stack_id = $stack_id
ORDER BY f.inner_frames NULLS LAST

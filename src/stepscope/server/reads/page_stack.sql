-- Which calls does a stack consist of?
--
-- reads: stack_frame, frame
-- parameters:
--   stack_id | int | the stack
-- columns:
--   function, file, line, code
SELECT r.function, r.file, r.line, r.code
FROM stack_frame AS f
INNER JOIN frame AS r ON r.id = f.frame_id
WHERE f.stack_id = $stack_id
ORDER BY f.inner_frames NULLS LAST

-- All frames of each stack
--
-- question: Which frames does a stack consist of?
-- reads: stack
-- columns:
--   stack_id | int | Stack | number of the stack
--   frame_id | int | Frame | one of its frames
--   inner_frames | int | From inside | how many frames it called; 0 for the innermost
WITH RECURSIVE walked AS (
  SELECT k.id AS stack_id, k.id AS at_id, k.parent_id AS next_id, k.frame_id, CAST(0 AS BIGINT) AS inner_frames
  FROM stack AS k
  UNION ALL
  SELECT w.stack_id, k.id, k.parent_id, k.frame_id, w.inner_frames + 1
  FROM walked AS w
  INNER JOIN stack AS k ON k.id = w.next_id AND k.id < w.at_id
)

SELECT
  columns!(w, stack_id, frame_id, inner_frames)
FROM walked AS w

-- How many samples of stacks are there?
--
-- reads: stack_sample
-- columns:
--   samples | int | how many
SELECT COUNT(*) AS samples
FROM stack_sample AS m

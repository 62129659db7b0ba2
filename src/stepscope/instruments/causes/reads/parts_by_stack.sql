-- What do labels take of the steps of certain sources, by the stack of the driving thread meanwhile?
--
-- reads: stack_part
-- parameters:
--   sources | ints | sources that have the steps
-- columns:
--   step_id, stack_id, label, dur_ps
SELECT p.step_id, p.stack_id, p.label, p.dur_ps
FROM stack_part AS p
WHERE p.source_id IN $sources
ORDER BY p.id NULLS LAST

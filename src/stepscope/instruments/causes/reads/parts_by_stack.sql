-- What do labels take of the steps of certain sources, by the stack of the driving thread meanwhile?
--
-- reads: stack_part, step
-- parameters:
--   sources | ints | sources that have the steps
--   averaged | int | 1 for steps that averages include, 0 for all
-- columns:
--   step_id, stack_id, label, dur_ps
SELECT p.step_id, p.stack_id, p.label, p.dur_ps
FROM stack_part AS p
INNER JOIN step AS s ON s.id = p.step_id
WHERE p.source_id IN $sources AND (s.averaged OR $averaged = 0)
ORDER BY p.id NULLS LAST

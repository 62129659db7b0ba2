-- Which sources lie on one axis of time by more than the time of day, and how exactly?
--
-- reads: _source_shift
-- notes: If one source is placed by its collectives, or begins with other ranks, every source has its place.
-- columns:
--   source_id, known, shift_ps, placed_by, residual_ps
WITH counted AS (
  SELECT sum_where!(f.placed_by IN ('collectives', 'begin'), 1) AS aligned
  FROM _source_shift AS f
)

SELECT f.source_id, f.known, f.shift_ps, f.placed_by, f.residual_ps
FROM _source_shift AS f
CROSS JOIN counted AS c
WHERE c.aligned > 0
ORDER BY f.source_id NULLS LAST

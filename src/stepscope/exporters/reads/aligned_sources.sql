-- Sources that are laid out together
--
-- question: Which sources lie on one axis of time by more than the time of day, and how exactly?
-- reads: _source_shift
-- notes: If one source is placed by its collectives, or begins with other ranks, every source has its place.
-- columns:
--   source_id
--   known | bool | whether the time of day says where it lies
--   shift_ps | ps | to be added to its times
--   placed_by | text | collectives, time_of_day, begin or order, as in _source_shift
--   residual_ps | ps | placed by collectives: nine of ten ends are this close
WITH counted AS (
  SELECT sum_where!(f.placed_by IN ('collectives', 'begin'), 1) AS aligned
  FROM _source_shift AS f
)

SELECT f.source_id, f.known, f.shift_ps, f.placed_by, f.residual_ps
FROM _source_shift AS f
CROSS JOIN counted AS c
WHERE c.aligned > 0
ORDER BY f.source_id NULLS LAST

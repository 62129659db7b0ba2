-- Clocks of the ranks
--
-- question: How far is the clock of each source from the one that the ranks of its run are compared on?
-- reads: clock_offset, rank_source, source
-- notes: Collectives in which every rank needs something of every other end on all of them at the same time. The
--   differences of these ends give an offset and a drift, and what is left of them is the error bar.
-- weakened_by: lost, capped, truncated
-- columns:
--   run_id | text | Run | name of the run
--   host_id
--   path | text | Source | path of the source
--   participants | int | Ranks | ranks that the source has
--   aligned_by | text | Aligned by | axis, ends, time_of_day or unknown
--   offset_ps | ps | Offset | to be added to its times, at the anchor
--   drift_ppm | float | Drift | millionths of the time since the anchor, to be added as well
--   residual_ps | ps | Error | nine of ten ends are this close once aligned; NULL when unknown
--   most_residual_ps | ps | Largest | the same of all ends
--   pairs | int | Ends | ends that were compared
WITH counted AS (
  SELECT r.source_id, COUNT(*) AS number
  FROM rank_source AS r
  GROUP BY r.source_id
)

SELECT
  columns!(k, run_id, host_id),
  s.path,
  COALESCE(c.number, 0) AS participants,
  columns!(k, aligned_by, offset_ps, drift_ppm, residual_ps, most_residual_ps, pairs)
FROM clock_offset AS k
INNER JOIN source AS s ON s.source_id = k.source_id
LEFT JOIN counted AS c ON c.source_id = k.source_id
ORDER BY nulls_last!(k.run_id, k.host_id, s.path, k.source_id)

-- The recorder dropped events
--
-- question: Which recordings were capped by the tool that made them?
-- reads: source, source_note, step
-- severity: high
-- impact: The recorder of {path} dropped or cut {capped} {capped:event|events}, which no number here
--   includes.
-- action: Record fewer steps, or raise the recorder's limit. A short complete recording is worth more than
--   a long one with holes.
-- reasoning: Recorders have limits: tf.profiler keeps a number of events per thread, CUPTI per device, a
--   trace page a million in all. What comes after the limit is dropped, mostly at the end of the capture or
--   on the busiest thread, so sums are too low and shares shift towards what was kept. Nothing can be
--   repaired; the finding says which numbers are lower bounds.
-- formula: capped = events that the recorder reports as dropped or cut (counters in the file), or the
--   events of notes with the effect `capped` where there is no counter; impact = sum of the source's step
--   durations, because any part of them may be affected.
-- columns:
--   impact_ps | ps | In doubt | length of the source's steps
--   run_id, host_id
--   source_id | int | Source | number of the source
--   path | text | Source | path as given
--   capped | int | Capped | events that the recorder itself dropped or cut
WITH spans AS (
  SELECT s.source_id, SUM(s.dur_ps) AS sum_ps
  FROM step AS s
  GROUP BY s.source_id
),

told AS (
  SELECT n.source_id, SUM(n.events) AS number
  FROM source_note AS n
  WHERE n.effect = 'capped'
  GROUP BY n.source_id
)

SELECT
  'high' AS severity,
  CAST(COALESCE(p.sum_ps, 0) AS BIGINT) AS impact_ps,
  columns!(o, run_id, host_id, source_id, path),
  CAST(CASE WHEN o.events_capped > 0 THEN o.events_capped ELSE COALESCE(t.number, 0) END AS BIGINT) AS capped
FROM source AS o
LEFT JOIN told AS t ON t.source_id = o.source_id
LEFT JOIN spans AS p ON p.source_id = o.source_id
WHERE o.events_capped > 0 OR t.source_id IS NOT NULL
ORDER BY nulls_last!(o.events_capped DESC, o.path, o.source_id)

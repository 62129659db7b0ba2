-- When, within a stretch of time, does something execute or wait, for each kind of it?
--
-- reads: slice, _evidence_label
-- notes: What reaches into the stretch. Where an input pipeline captures functions, captured_evidence is asked instead:
--   it needs the values of slices, which take time to read.
-- order: there may be as many rows as slices, and the core makes the union of each layer, whatever comes first
-- parameters: sources, begin_ps, end_ps, place
-- columns:
--   source_id, layer
--   begin_ps | ps | begin of the op or wait
--   end_ps | ps | its end
WITH layers AS (
  SELECT l.rollup_id, l.source_id, l.layer, l.least_ps
  FROM _evidence_label AS l
  WHERE l.source_id IN $sources AND l.layer IS NOT NULL AND (l.place = $place OR l.because = 'other')
)

SELECT l.source_id, l.layer, s.ts_ps AS begin_ps, s.ts_ps + s.dur_ps AS end_ps
FROM slice AS s
INNER JOIN layers AS l ON l.rollup_id = s.rollup_id
WHERE s.dur_ps > l.least_ps AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps > $begin_ps

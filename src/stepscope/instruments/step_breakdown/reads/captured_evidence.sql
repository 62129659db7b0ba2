-- When does something execute or wait, as in step_evidence, where functions of the input are captured?
--
-- reads: slice, _evidence_label, _captured_op
-- notes: Ops of captured functions are work of the input.
-- order: there may be as many rows as slices, and the core makes the union of each layer, whatever comes first
-- parameters: sources, begin_ps, end_ps, place
-- columns:
--   source_id
--   layer | text | as in _evidence_label
--   begin_ps | ps | begin of the op or wait
--   end_ps | ps | its end
WITH ran AS (
  SELECT c.slice_id
  FROM _captured_op AS c
  WHERE c.source_id IN $sources
),

layers AS (
  SELECT l.rollup_id, l.source_id, l.because, l.layer
  FROM _evidence_label AS l
  WHERE l.source_id IN $sources AND (l.place = $place OR l.because = 'other')
),

placed AS (
  SELECT
    l.source_id,
    CASE
      WHEN l.because = 'other' OR r.slice_id IS NULL THEN l.layer
      WHEN l.because = 'python' THEN 'input python'
      ELSE 'input work'
    END AS counts_to,
    columns!(s, ts_ps, dur_ps)
  FROM slice AS s
  INNER JOIN layers AS l ON l.rollup_id = s.rollup_id
  LEFT JOIN ran AS r ON r.slice_id = s.id
  WHERE s.dur_ps > 0 AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps > $begin_ps
)

SELECT p.source_id, p.counts_to AS layer, p.ts_ps AS begin_ps, p.ts_ps + p.dur_ps AS end_ps
FROM placed AS p
WHERE p.counts_to IS NOT NULL

-- When does something execute or wait, as in step_evidence, where a thread makes its input itself?
--
-- reads: slice, _evidence_label
-- notes: Ops within a wait for input are work of the input. A DataLoader without workers makes its batch in the thread
--   that asks for it. A slice lies within a wait of its track that began before it and has not ended: slices of a track
--   nest.
-- order: there may be as many rows as slices, and the core makes the union of each layer, whatever comes first
-- parameters: sources, begin_ps, end_ps, place
-- columns:
--   source_id
--   layer | text | as in _evidence_label
--   begin_ps | ps | begin of the op or wait
--   end_ps | ps | its end
WITH layers AS (
  SELECT l.rollup_id, l.source_id, l.because, l.layer, l.least_ps
  FROM _evidence_label AS l
  WHERE l.source_id IN $sources AND (l.place = $place OR l.because = 'other')
),

timed AS (
  SELECT
    columns!(l, source_id, because, layer),
    s.ts_ps AS from_ps,
    s.ts_ps + s.dur_ps AS to_ps,
    until!(l.layer = 'input waits', s) AS waits_until_ps
  FROM slice AS s
  INNER JOIN layers AS l ON l.rollup_id = s.rollup_id
  WHERE s.dur_ps > l.least_ps AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps > $begin_ps
),

placed AS (
  SELECT
    t.source_id,
    CASE
      WHEN t.because = 'other' OR t.waits_until_ps IS NULL OR t.waits_until_ps <= t.from_ps THEN t.layer
      WHEN t.because = 'python' THEN 'input python'
      ELSE 'input work'
    END AS counts_to,
    columns!(t, from_ps, to_ps)
  FROM timed AS t
)

SELECT p.source_id, p.counts_to AS layer, p.from_ps AS begin_ps, p.to_ps AS end_ps
FROM placed AS p
WHERE p.counts_to IS NOT NULL

-- When does something execute or wait, as in loading_evidence, where ops run within their calls?
--
-- reads: slice, _evidence_label
-- notes: PyTorch on a processor does. An op calls others, and what calls one after the other launches. So an op
--   computes in those stretches of its own, between the ops that it calls, which are longer than launching takes. What
--   copies within an op that computes is part of that op. A slice lies within another of its track that began before it
--   and has not ended: slices of a track nest.
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
  WHERE
    l.source_id IN $sources AND l.because <> 'python' AND l.layer IS NOT NULL
    AND (l.place = $place OR l.because = 'other')
),

timed AS (
  SELECT
    s.id,
    s.parent_id,
    l.source_id,
    l.because,
    l.layer,
    l.least_ps,
    s.ts_ps AS from_ps,
    s.ts_ps + s.dur_ps AS to_ps,
    until!(l.layer = 'input waits', s) AS waits_until_ps,
    until!(l.layer = 'compute', s) AS computes_until_ps
  FROM slice AS s
  LEFT JOIN layers AS l ON l.rollup_id = s.rollup_id
  WHERE s.source_id IN $sources AND s.dur_ps > 0 AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps > $begin_ps
),

edges AS (
  SELECT t.id AS of_id, 0 AS nth, t.from_ps AS until_ps, t.from_ps AS since_ps
  FROM timed AS t
  UNION ALL
  SELECT t.parent_id AS of_id, 1 AS nth, t.from_ps AS until_ps, t.to_ps AS since_ps
  FROM timed AS t
  WHERE t.parent_id IS NOT NULL
  UNION ALL
  SELECT t.id AS of_id, 2 AS nth, t.to_ps AS until_ps, t.to_ps AS since_ps
  FROM timed AS t
),

stretches AS (
  SELECT
    e.of_id,
    LAG(e.since_ps) OVER (
      PARTITION BY e.of_id
      ORDER BY nulls_last!(e.until_ps, e.nth, e.since_ps)
    ) AS from_ps,
    e.until_ps AS to_ps
  FROM edges AS e
),

placed AS (
  SELECT
    t.source_id,
    CASE
      WHEN t.waits_until_ps > t.from_ps THEN 'input work'
      WHEN t.layer = 'copy' AND t.computes_until_ps > t.from_ps THEN 'compute'
      ELSE t.layer
    END AS counts_to,
    h.from_ps,
    h.to_ps
  FROM stretches AS h
  INNER JOIN timed AS t ON t.id = h.of_id
  WHERE t.because = 'op' AND h.to_ps - h.from_ps > t.least_ps
  UNION ALL
  SELECT t.source_id, t.layer AS counts_to, t.from_ps, t.to_ps
  FROM timed AS t
  WHERE t.because = 'other'
)

SELECT p.source_id, p.counts_to AS layer, p.from_ps AS begin_ps, p.to_ps AS end_ps
FROM placed AS p

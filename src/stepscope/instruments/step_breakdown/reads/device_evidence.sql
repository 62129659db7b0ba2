-- When, within a stretch of time, does something execute on each of several devices?
--
-- reads: slice, track_place, _evidence_label
-- notes: What reaches into the stretch. As step_evidence, which makes one of all devices. What is evidence wherever it
--   lies, as transfers are that the host shows, has a number of its own for no device.
-- order: there may be as many rows as slices, and the core makes the union of each layer, whatever comes first
-- parameters: sources, begin_ps, end_ps
-- columns:
--   source_id
--   layer | text | as in _evidence_label, a slash, and the number of the device; -1 for none
--   begin_ps | ps | begin of the op
--   end_ps | ps | its end
WITH layers AS (
  SELECT l.rollup_id, l.source_id, l.layer AS counts_to, l.place, l.least_ps
  FROM _evidence_label AS l
  WHERE l.source_id IN $sources AND (l.place = 'device' OR l.because = 'other')
    AND l.layer IN ('compute', 'communication', 'copy', 'compile', 'python', 'wait')
)

SELECT
  l.source_id,
  l.counts_to || '/' || CAST(CASE WHEN l.place = 'device' THEN p.device_track_id ELSE -1 END AS VARCHAR) AS layer,
  s.ts_ps AS begin_ps,
  s.ts_ps + s.dur_ps AS end_ps
FROM slice AS s
INNER JOIN layers AS l ON l.rollup_id = s.rollup_id
INNER JOIN track_place AS p ON p.track_id = s.track_id
WHERE s.dur_ps > l.least_ps AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps > $begin_ps

-- Stretches of a source that were recorded and are judged
--
-- question: Which stretches of time count as the window?
-- reads: step
-- notes: One stretch from the first to the last step that averages include, with a step that an end of the recording
--   cuts off; where there is none, over all steps or the whole capture. Where each step is a recording of its own
--   (files of ProfilerHook, run metadata in an event file), one stretch for each of these steps: what happened between
--   two of them was never recorded, so it is neither busy nor idle. Such a step that averages leave out has a stretch
--   only where its run and host have no other.
-- columns:
--   piece_id | int | Stretch | number of the stretch: row of its first step
--   run_id, host_id, source_id
--   open_ps | ps | Begin | from here, counted from the capture's origin
--   close_ps | ps | Until | to here
--   apart | bool | Apart | true where each step is a recording of its own
WITH chosen AS (
  SELECT
    columns!(s, id, run_id, host_id, source_id, ts_ps),
    s.ts_ps + s.dur_ps AS end_ps,
    s.kind,
    s.recovered_from = 'file' AS apart,
    CASE WHEN s.recovered_from = 'file' THEN s.id END AS own_id,
    s.averaged,
    MAX(CASE WHEN s.averaged THEN 1 ELSE 0 END) OVER (
      PARTITION BY s.run_id, s.host_id, CASE WHEN s.recovered_from = 'file' THEN -1 ELSE s.source_id END
    ) AS any_averaged
  FROM step AS s
)

SELECT
  MIN(c.id) AS piece_id,
  columns!(c, run_id, host_id, source_id),
  MIN(c.ts_ps) AS open_ps,
  MAX(c.end_ps) AS close_ps,
  c.apart
FROM chosen AS c
WHERE c.averaged OR c.any_averaged = 0 OR (c.kind = 'cut_off' AND NOT c.apart)
GROUP BY columns!(c, run_id, host_id, source_id, apart, own_id)

-- Which slices are communications that several processes or devices make together?
--
-- reads: slice, rollup_op, track_place, track, step
-- notes: Of a source that recorded an accelerator, those on its devices; marks around them and launches are others'.
--   Of nested ones the outermost: Horovod draws NCCL's within its own. PyTorch's collectives on processors (gloo) are
--   ops by the name record_param_comms, and what ran them are marks that begin with gloo:.
-- columns:
--   slice_id | int | number of the slice
--   run_id, host_id, source_id, track_id, producer, place, device
--   process | text | group of the row: a tensor of Horovod
--   step
--   cut_off | bool | true where the recording begins or ends within that step
--   name, op_name, op_type, ts_ps, dur_ps, args_json
WITH kinds AS (
  SELECT
    r.id,
    columns!(p, producer, place, device),
    CASE
      WHEN r.is_op AND r.class = 'communication' THEN 1
      WHEN p.place = 'host' AND r.name LIKE 'gloo:%' THEN 1
      ELSE 0
    END AS counts,
    MAX(CASE WHEN p.place = 'device' AND r.is_op AND r.class = 'communication' THEN 1 ELSE 0 END) OVER (
      PARTITION BY r.source_id
    ) AS on_devices
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE (r.is_op AND r.class = 'communication') OR r.name LIKE 'gloo:%'
),

wanted AS (
  SELECT k.id, k.producer, k.place, k.device
  FROM kinds AS k
  WHERE k.counts = 1 AND (k.place = 'device' OR (k.place = 'host' AND k.on_devices = 0))
),

within AS (
  SELECT
    s.id AS slice_id,
    columns!(s, run_id, host_id, source_id, track_id),
    columns!(w, producer, place, device),
    columns!(s, step, name, op_name, op_type, ts_ps, dur_ps, args_json),
    MAX(s.ts_ps + s.dur_ps) OVER (
      PARTITION BY s.track_id
      ORDER BY nulls_last!(s.ts_ps, s.dur_ps DESC, s.id)
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS until_ps
  FROM slice AS s
  INNER JOIN wanted AS w ON w.id = s.rollup_id
),

cut AS (
  SELECT s.source_id, s.step
  FROM step AS s
  WHERE s.kind = 'cut_off'
  GROUP BY s.source_id, s.step
)

SELECT
  columns!(w, slice_id, run_id, host_id, source_id, track_id, producer, place, device),
  t.process,
  w.step,
  c.source_id IS NOT NULL AS cut_off,
  columns!(w, name, op_name, op_type, ts_ps, dur_ps, args_json)
FROM within AS w
INNER JOIN track AS t ON t.id = w.track_id
LEFT JOIN cut AS c ON c.source_id = w.source_id AND c.step = w.step
WHERE w.until_ps IS NULL OR w.until_ps < w.ts_ps + w.dur_ps
ORDER BY nulls_last!(w.source_id, w.ts_ps, w.dur_ps DESC, w.slice_id)

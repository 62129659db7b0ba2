-- How long did each op of PyTorch run on a processor itself while steps ran?
--
-- reads: slice, rollup_op, track_place, step_window, source
-- notes: Of recordings without a device that the work is launched on, and without launches on one. Of a recording
--   without steps, all count.
-- columns:
--   run_id, host_id, source_id, device
--   op | text | name of the op
--   args_json, dur_ps
--   own_ps | ps | what it took itself
WITH of_devices AS (
  SELECT p.source_id
  FROM track_place AS p
  WHERE p.place = 'device'
  UNION
  SELECT r.source_id
  FROM rollup_op AS r
  WHERE kernel_launch!(r.name)
)

SELECT
  columns!(s, run_id, host_id, source_id),
  p.device,
  s.name AS op,
  columns!(s, args_json, dur_ps),
  COALESCE(s.op_self_ps, s.self_ps) AS own_ps
FROM slice AS s
INNER JOIN source AS o ON o.source_id = s.source_id AND o.framework = 'pytorch'
INNER JOIN rollup_op AS r ON r.id = s.rollup_id
INNER JOIN track_place AS p ON p.track_id = s.track_id
INNER JOIN step_window AS w ON w.source_id = s.source_id
LEFT JOIN of_devices AS d ON d.source_id = s.source_id
WHERE
  p.place = 'host' AND d.source_id IS NULL AND r.is_op AND r.class IN ('compute', 'copy') AND s.category = 'cpu_op'
  AND s.ts_ps >= w.open_ps AND s.ts_ps < w.close_ps
ORDER BY nulls_last!(s.source_id, s.id)

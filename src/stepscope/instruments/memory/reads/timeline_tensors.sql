-- Which tensors did TensorFlow's Timeline draw of a source (show_memory), from when to when?
--
-- reads: instant, track, device
-- parameters: source_id
--   most | int | rows to give, the first ones in the file
-- columns:
--   name | text | name of the tensor: its op, and which output unless it is the first
--   device | text | device of its op
--   born_ps | ps | when the op that makes it began
--   made_ps | ps | a microsecond before that op ended; null when the file does not tell
--   gone_ps | ps | when the last op that names it ended; null when the file does not tell
--   snapshot_json | text | type, shape and allocation, as a JSON object
WITH tensors AS (
  SELECT i.id, i.track_id, i.object_id, i.name, i.kind, i.ts_ps, i.args_json
  FROM instant AS i
  WHERE
    i.source_id = $source_id
    AND i.category = 'Tensor'
    AND i.kind IN ('object_new', 'object_snapshot', 'object_delete')
),

-- Timeline gives a number away again when an op ran twice, and files that were put together begin anew.
numbered AS (
  SELECT
    columns!(t, id, track_id, object_id, name, kind, ts_ps, args_json),
    SUM(CASE WHEN t.kind = 'object_new' THEN 1 ELSE 0 END) OVER (
      PARTITION BY t.object_id, t.name ORDER BY t.id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS time_made
  FROM tensors AS t
),

made AS (
  SELECT
    n.name,
    MIN(CASE WHEN n.kind = 'object_new' THEN n.id END) AS first_id,
    MIN(CASE WHEN n.kind = 'object_new' THEN n.track_id END) AS of_track,
    MIN(CASE WHEN n.kind = 'object_new' THEN n.ts_ps END) AS born_ps,
    MAX(CASE WHEN n.kind = 'object_snapshot' THEN n.ts_ps END) AS made_ps,
    MAX(CASE WHEN n.kind = 'object_delete' THEN n.ts_ps END) AS gone_ps,
    MAX(CASE WHEN n.kind = 'object_snapshot' THEN n.args_json END) AS snapshot_json
  FROM numbered AS n
  GROUP BY n.object_id, n.name, n.time_made
)

SELECT m.name, d.name AS device, m.born_ps, m.made_ps, m.gone_ps, m.snapshot_json
FROM made AS m
LEFT JOIN track AS t ON t.id = m.of_track
LEFT JOIN device AS d ON d.id = t.device_id
WHERE m.born_ps IS NOT NULL
ORDER BY m.first_id NULLS LAST
LIMIT $most

-- Listing files takes time in every pass
--
-- question: How much time goes into ops that list or match files?
-- reads: slice, track_place, step_window
-- severity: high from 30 % of the window, medium from 5 %
-- impact: Listing files runs {runs} times and takes {impact_ps}, {share} of the window.
-- action: List the files once, before the pipeline: files = tf.io.gfile.glob(pattern), or keep the list in a
--   file; with many small files, pack them into fewer TFRecords.
-- weakened_by: lost, capped, truncated
-- columns:
--   severity | text | Severity | high or medium
--   impact_ps | ps | Listing | durations, added up
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   runs | int | Runs | how often
--   share | ratio | Share of window | their time as part of the window
WITH listings AS (
  SELECT s.run_id, s.host_id, s.source_id, COUNT(*) AS number, SUM(s.self_ps) AS sum_ps
  FROM slice AS s
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE
    p.place <> 'none'
    AND (s.op_type = 'MatchingFiles' OR s.name LIKE '%MatchingFiles' OR s.name LIKE '%MatchingFilesDataset')
  GROUP BY s.run_id, s.host_id, s.source_id
)

SELECT
  CASE WHEN l.sum_ps * 10 >= w.window_ps * 3 THEN 'high' ELSE 'medium' END AS severity,
  CAST(l.sum_ps AS BIGINT) AS impact_ps,
  l.run_id,
  l.host_id,
  l.source_id,
  l.number AS runs,
  CAST(l.sum_ps AS DOUBLE) / NULLIF(w.window_ps, 0) AS share
FROM listings AS l
INNER JOIN step_window AS w ON w.source_id = l.source_id
WHERE l.sum_ps * 20 >= w.window_ps AND l.sum_ps > 0
ORDER BY l.sum_ps DESC NULLS LAST, l.source_id NULLS LAST

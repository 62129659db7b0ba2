-- Listing files takes time
--
-- question: How much time goes into ops that list or match files?
-- reads: slice, rollup_op, track_place, observed, step_window
-- severity: high from 30 % of the window, medium from 5 %
-- impact: Files are listed {runs} {runs:time|times}, which takes {impact_ps}, {share} of the window.
-- action: List the files once, before the pipeline: files = tf.io.gfile.glob(pattern), or keep the list in a
--   file; with many small files, pack them into fewer TFRecords.
-- notes: Slices are cut at the edges of the window; what runs at the same time counts once. TensorFlow 1 runs the
--   op inside of another, which makes the dataset, and shows it on the host's threads only.
-- weakened_by: lost, capped, truncated
-- reasoning: Dataset.list_files asks the file system for all names once, when the dataset is made, and in a graph
--   of TensorFlow 1 each time its iterator is initialised; MatchingFilesDataset, and list_files inside of the
--   function of an interleave, ask again whenever they start over. Nothing is read meanwhile. On remote storage
--   or with many small files this takes seconds. The list rarely changes, so it can be made once.
-- formula: impact = length of the union of slices of MatchingFiles ops and MatchingFiles stages, cut at the
--   edges of the window; share = impact / window; reported from 0.05, high from 0.3.
-- columns:
--   impact_ps | ps | Listing | time within the window in which at least one runs
--   run_id, host_id, source_id
--   runs | int | Runs | how often
--   share | ratio | Share of window | that time as part of the window
WITH labels AS (
  SELECT r.id, CASE WHEN p.place = 'none' THEN 0 ELSE 1 END AS runs
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE
    (p.place <> 'none' OR p.track_kind IN ('thread', 'lane'))
    AND (r.op_type = 'MatchingFiles' OR r.name LIKE '%MatchingFiles' OR r.name LIKE '%MatchingFilesDataset')
),

cut AS (
  SELECT
    columns!(s, id, source_id),
    l.runs,
    w.piece_id,
    greatest!(w.open_ps, s.ts_ps) AS from_ps,
    least!(w.close_ps, s.ts_ps + s.dur_ps) AS to_ps
  FROM slice AS s
  INNER JOIN labels AS l ON l.id = s.rollup_id
  INNER JOIN observed AS w ON w.source_id = s.source_id
  WHERE s.dur_ps > 0 AND s.ts_ps < w.close_ps AND s.ts_ps + s.dur_ps > w.open_ps
),

ordered AS (
  SELECT
    columns!(c, source_id, runs, from_ps, to_ps),
    covered!(c.to_ps, c.from_ps, c.id, c.source_id, c.piece_id) AS covered_ps
  FROM cut AS c
),

listings AS (
  SELECT
    o.source_id,
    -- What only annotates an op that is there as well is the same listing.
    CASE WHEN SUM(o.runs) > 0 THEN SUM(o.runs) ELSE COUNT(*) END AS number,
    sum!(uncovered!(o.covered_ps, o.from_ps, o.to_ps)) AS listing_ps
  FROM ordered AS o
  GROUP BY o.source_id
)

SELECT
  CASE WHEN l.listing_ps * 10 >= w.window_ps * 3 THEN 'high' ELSE 'medium' END AS severity,
  l.listing_ps AS impact_ps,
  columns!(w, run_id, host_id, source_id),
  CAST(l.number AS BIGINT) AS runs,
  share!(l.listing_ps, w.window_ps) AS share
FROM listings AS l
INNER JOIN step_window AS w ON w.source_id = l.source_id
WHERE l.listing_ps * 20 >= w.window_ps AND l.listing_ps > 0
ORDER BY nulls_last!(l.listing_ps DESC, w.source_id)

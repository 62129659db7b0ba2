-- Work of a track, one slice after the other
--
-- question: How much does each slice add to the time a track was busy, and how long was it idle before?
-- reads: work_slice
-- notes: In order of start, busy_ps is the part of a slice that no earlier one covered, gap_ps the time
--   from the end of all earlier ones to its start. busy_ps adds up to the union of the slices.
-- columns:
--   slice_id | int | Slice | number of the slice
--   track_id | int | Track | track it lies on
--   piece_id | int | Stretch | stretch of observed it lies in
--   from_ps | ps | From | start within the window
--   to_ps | ps | To | end within the window
--   covered_ps | ps | Covered until | end of all earlier slices; NULL for the first of a stretch
--   busy_ps | ps | Adds | what it adds to the busy time
--   gap_ps | ps | Gap | idle time before it; NULL for the first of a stretch
WITH ordered AS (
  SELECT
    w.slice_id,
    w.track_id,
    w.piece_id,
    w.from_ps,
    w.to_ps,
    MAX(w.to_ps) OVER (
      PARTITION BY w.track_id, w.piece_id
      ORDER BY w.from_ps NULLS LAST, w.slice_id NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS covered_ps
  FROM work_slice AS w
)

SELECT
  o.slice_id,
  o.track_id,
  o.piece_id,
  o.from_ps,
  o.to_ps,
  o.covered_ps,
  CASE
    WHEN o.covered_ps IS NULL OR o.covered_ps <= o.from_ps THEN o.to_ps - o.from_ps
    WHEN o.covered_ps >= o.to_ps THEN 0
    ELSE o.to_ps - o.covered_ps
  END AS busy_ps,
  CASE
    WHEN o.covered_ps IS NULL THEN NULL
    WHEN o.covered_ps < o.from_ps THEN o.from_ps - o.covered_ps
    ELSE 0
  END AS gap_ps
FROM ordered AS o

-- What are the slices of some threads that are called alike?
--
-- reads: _nested_kind, step
-- parameters:
--   tracks | ints | threads to look at
-- columns:
--   rollup_id, source_id, device, name
--   stands_for | text | op, frame (a Python call) or mark (an annotation); NULL for what may be a launch
--   op_name
--   op_type | text | type of the op
WITH steps AS (
  SELECT n.name
  FROM step AS n
  GROUP BY n.name
)

SELECT
  columns!(k, rollup_id, source_id, device, name),
  CASE
    WHEN k.is_op THEN 'op'
    WHEN k.is_frame THEN 'frame'
    WHEN k.category = 'user_annotation' AND k.name NOT LIKE 'ProfilerStep#%' AND n.name IS NULL THEN 'mark'
  END AS stands_for,
  k.op_name,
  k.type_or_name AS op_type
FROM _nested_kind AS k
LEFT JOIN steps AS n ON n.name = k.name
WHERE k.track_id IN $tracks
ORDER BY k.rollup_id NULLS LAST

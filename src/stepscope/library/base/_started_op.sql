-- What of each kind of op runs in steps that compiled or warmed up, in files of runs whose averages include others?
--
-- reads: slice, step, rollup_op
-- notes: A file in which the timelines of many runs were joined. Files that hold nothing else are in _started_source.
-- columns:
--   of_rollup | int | row of rollup_op that they are added up in
--   source_id
--   many | int | how many slices
--   spent_ps | ps | their self times, as in op_slice, added up
WITH counting AS (
  SELECT c.source_id AS counting_source
  FROM step AS c
  WHERE c.averaged
  GROUP BY c.source_id
),

started AS (
  SELECT s.source_id AS started_source, s.step AS started_step
  FROM step AS s
  INNER JOIN counting AS c ON c.counting_source = s.source_id
  WHERE s.recovered_from = 'file' AND s.kind IN ('compile', 'warm_up') AND NOT s.averaged
)

SELECT
  s.rollup_id AS of_rollup,
  s.source_id,
  COUNT(*) AS many,
  sum!(COALESCE(s.op_self_ps, s.self_ps)) AS spent_ps
FROM slice AS s
INNER JOIN started AS t ON t.started_source = s.source_id AND t.started_step = s.step
INNER JOIN rollup_op AS r ON r.id = s.rollup_id
WHERE r.is_op
GROUP BY s.rollup_id, s.source_id

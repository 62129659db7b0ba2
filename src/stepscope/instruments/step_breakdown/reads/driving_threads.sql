-- Which threads of some sources may run the user's program?
--
-- reads: track, track_place, rollup_op, slice, step
-- notes: Threads of the framework are called tf_ and something.
-- parameters: sources
-- columns:
--   source_id, id, name
--   steps | int | steps that begin on it
--   calls | int | slices that only a thread has which runs the user's program
--   engine | bool | whether it does hardly more than what PyTorch's engine calls for the gradients of a device, while
--     the thread waits that runs the program
WITH called AS (
  SELECT
    r.track_id,
    sum!(r.slices) AS number,
    sum_where!(r.name LIKE 'autograd::engine::evaluate_function:%', r.total_ps) AS for_gradients,
    SUM(r.self_ps) AS all_of_them
  FROM rollup_op AS r
  WHERE
    r.source_id IN $sources
    AND (
      r.name IN ('SessionRun', 'FunctionRun') OR r.name LIKE 'PjitFunction(%' OR r.name LIKE 'TFE_Py_%'
      OR r.name LIKE 'Eager%' OR r.name LIKE 'Iterator%' OR r.name LIKE 'ProfilerStep#%'
      OR r.name LIKE 'PjRtCApi%' OR r.name LIKE '$%'
      OR r.category IN ('python_function', 'user_annotation', 'cpu_op', 'cuda_runtime')
    )
  GROUP BY r.track_id
),

marked AS (
  SELECT s.track_id, COUNT(DISTINCT o.id) AS number
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  INNER JOIN step AS o ON o.source_id = s.source_id AND o.ts_ps = s.ts_ps AND o.name = r.name
  WHERE s.source_id IN $sources
  GROUP BY s.track_id
)

SELECT
  columns!(t, source_id, id, name),
  CASE WHEN m.number IS NULL THEN 0 ELSE m.number END AS steps,
  CASE WHEN c.number IS NULL THEN 0 ELSE c.number END AS calls,
  COALESCE(c.for_gradients * 10 >= c.all_of_them * 9, FALSE) AS engine
FROM track AS t
INNER JOIN track_place AS p ON p.track_id = t.id AND p.place IN ('host', 'launch')
LEFT JOIN called AS c ON c.track_id = t.id
LEFT JOIN marked AS m ON m.track_id = t.id
WHERE t.source_id IN $sources AND t.name NOT LIKE 'tf_%' AND (c.number > 0 OR m.number > 0)
ORDER BY t.id NULLS LAST

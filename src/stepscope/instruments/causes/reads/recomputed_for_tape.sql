-- How much of the time of ops goes to those that TensorFlow made again where gradients are asked for?
--
-- reads: rollup_op, track_place, op_line
-- notes: The line that asks for gradients calls the function whose ops are made again; another line called it first.
-- parameters: run_id, host_id
--   place | text | device or host
-- columns:
--   again_ps | ps | self times of these ops
--   all_ps | ps | self times of all ops that compute there
WITH made AS (
  SELECT
    columns!(o, op_name, file, line, caller_file, caller_line),
    CASE WHEN o.op_name LIKE 'gradient_tape/%' THEN 1 ELSE 0 END AS of_tape
  FROM op_line AS o
  WHERE o.run_id = $run_id AND o.file IS NOT NULL
),

asking AS (
  SELECT m.file AS of_file, m.line AS on_line
  FROM made AS m
  WHERE m.of_tape = 1
  GROUP BY m.file, m.line
),

calls AS (
  SELECT
    columns!(m, op_name, file, line),
    CASE WHEN a.on_line IS NULL THEN 0 ELSE 1 END AS by_asking
  FROM made AS m
  LEFT JOIN asking AS a ON a.of_file = m.caller_file AND a.on_line = m.caller_line
  WHERE m.of_tape = 0 AND m.caller_line IS NOT NULL
),

again AS (
  SELECT c.op_name
  FROM calls AS c
  INNER JOIN calls AS f ON f.file = c.file AND f.line = c.line AND f.by_asking = 0
  WHERE c.by_asking = 1
  GROUP BY c.op_name
)

SELECT
  CAST(SUM(CASE WHEN a.op_name IS NULL THEN 0 ELSE COALESCE(r.op_self_ps, r.self_ps) END) AS BIGINT) AS again_ps,
  CAST(SUM(COALESCE(r.op_self_ps, r.self_ps)) AS BIGINT) AS all_ps
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id AND p.place = $place
LEFT JOIN again AS a ON a.op_name = r.op_name
WHERE r.run_id = $run_id AND r.host_id = $host_id AND r.is_op AND r.layer = 'compute'
HAVING SUM(COALESCE(r.op_self_ps, r.self_ps)) > 0
ORDER BY nulls_last!(again_ps, all_ps)

-- Which evidence of what a step does are slices, by how they are called?
--
-- reads: rollup_op, track_place
-- notes: stepscope docs classes has the rules of layers. What XLA runs within a loop, a branch or a call lies on the
--   thread of that: where ops on it call Python, the loop itself computes only where nothing within it tells. Python of
--   the input is in two layers, and so is in two rows. PyTorch's collectives on processors (gloo) are marks on threads
--   of their own, for which others wait. TensorFlow's op that asks XLA for a program runs in each step, and only
--   launches where it finds one, so it is in two rows as well.
-- columns:
--   rollup_id | int | row of rollup_op
--   source_id, place
--   because | text | op, python, or other for what is evidence wherever it lies: waits, transfers, setups
--   layer | text | layer of rollup_op, or input python; NULL for calls of functions
--   least_ps | ps | a slice that takes no longer is none: an op of PyTorch on a processor is launched and run in
--     one call, and what launching takes is 1 to 10 µs of it; an op that asks for a program may find one
WITH calling AS (
  SELECT r.track_id AS of_track
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.is_op AND r.class = 'python' AND p.place = 'host'
  GROUP BY r.track_id
),

labels AS (
  SELECT
    r.id,
    r.source_id,
    p.place,
    CASE WHEN r.is_op AND r.class NOT IN ('input', 'wait') THEN 'op' ELSE 'other' END AS reason,
    r.class,
    CASE
      WHEN r.layer = 'compile'
        THEN look_up_ps!(r.op_type, r.op_name)
    END AS found_ps,
    CASE
      WHEN r.layer IS NULL AND p.place = 'host' AND r.name LIKE 'gloo:%' THEN 'peer waits'
      WHEN r.layer = 'compute' AND r.op_type IN ('while', 'conditional', 'call') AND c.of_track IS NOT NULL THEN 'nodes'
      ELSE r.layer
    END AS own_layer,
    CASE
      WHEN p.producer = 'kineto' AND p.place = 'host' AND r.class IN ('compute', 'copy') AND r.is_op THEN 10000000
      ELSE 0
    END AS own_least_ps
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  LEFT JOIN calling AS c ON c.of_track = r.track_id
)

SELECT
  l.id AS rollup_id,
  l.source_id,
  l.place,
  l.reason AS because,
  l.own_layer AS layer,
  CAST(COALESCE(l.found_ps, l.own_least_ps) AS BIGINT) AS least_ps
FROM labels AS l
WHERE l.own_layer IS NOT NULL OR l.reason = 'op'
UNION ALL
SELECT
  l.id AS rollup_id,
  l.source_id,
  l.place,
  'python' AS because,
  CASE WHEN l.own_layer = 'input work' THEN 'input python' END AS layer,
  CAST(0 AS BIGINT) AS least_ps
FROM labels AS l
WHERE l.reason = 'op' AND l.class = 'python'
UNION ALL
SELECT
  l.id AS rollup_id,
  l.source_id,
  l.place,
  'op' AS because,
  'launches' AS layer,
  CAST(0 AS BIGINT) AS least_ps
FROM labels AS l
WHERE l.found_ps IS NOT NULL

-- When ops, programs and waits held threads and devices
--
-- question: When, within a stretch of time, does something execute or wait, for each kind of it?
-- reads: slice, track, track_place, _labelled_slice, wait_slice
-- notes: The union of the times of each layer, cut to the stretch. An op is work of the input pipeline when it runs on
--   its threads, reads files, or lies in an executor that runs a function which the pipeline captured. Programs of XLA
--   on processors run their bigger ops in pieces on threads of a pool, most of which have no slice: the program's own
--   slice lasts as long as it runs. One that only copies counts as copying. The input's Python is part of its work.
-- parameters:
--   source_id | int | source to look at
--   place | text | where ops count: device or host
--   programs | int | 1 when programs of XLA on processors count, too
--   waits | int | 1 when threads that wait are looked for
--   captures | int | 1 when executors are looked for that run a captured function
--   file_readers | texts | types of ops that read the input
--   file_writers | texts | types of ops that write checkpoints and summaries
--   begin_ps | ps | begin of the stretch
--   end_ps | ps | its end
-- columns:
--   layer | text | class of op, input work, input python, wait, input waits or peer waits
--   begin_ps | ps | begin of an interval, disjoint with the others of the layer
--   end_ps | ps | its end
WITH called AS (
  SELECT
    CASE WHEN s.args_json LIKE '%"id"%' THEN NULLIF(JSON_EXTRACT_STRING(s.args_json, '$.id'), '') END AS function_id
  FROM slice AS s
  WHERE $captures = 1 AND s.source_id = $source_id AND s.name LIKE 'InstantiatedCapturedFunction::%'
),

captured AS (
  SELECT c.function_id
  FROM called AS c
  GROUP BY c.function_id
),

ran AS (
  SELECT
    s.id,
    CASE WHEN s.args_json LIKE '%"id"%' THEN NULLIF(JSON_EXTRACT_STRING(s.args_json, '$.id'), '') END AS function_id
  FROM slice AS s
  WHERE
    $captures = 1
    AND s.source_id = $source_id
    AND s.name LIKE 'ExecutorState::%'
    AND s.ts_ps < $end_ps
    AND s.ts_ps + s.dur_ps > $begin_ps
),

captured_ops AS (
  SELECT s.id
  FROM slice AS s
  INNER JOIN ran AS r ON r.id = s.parent_id
  INNER JOIN captured AS c ON c.function_id = r.function_id
  WHERE $captures = 1
),

executing AS (
  SELECT
    CASE
      WHEN
        p.place = 'host' AND (t.name LIKE 'tf_data%' OR l.type_or_name IN $file_readers OR o.id IS NOT NULL)
        THEN 'input work'
      WHEN l.type_or_name IN $file_writers THEN 'wait'
      WHEN l.class = 'collective' THEN 'communication'
      WHEN l.class IN ('compute', 'copy', 'compile', 'python') THEN l.class
    END AS layer,
    l.type_or_name,
    l.ts_ps AS from_ps,
    l.end_ps AS until_ps
  FROM _labelled_slice AS l
  INNER JOIN track AS t ON t.id = l.track_id
  INNER JOIN track_place AS p ON p.track_id = l.track_id
  LEFT JOIN captured_ops AS o ON o.id = l.slice_id
  WHERE
    l.source_id = $source_id
    AND p.place = $place
    AND l.class <> 'wait'
    AND l.ts_ps < $end_ps
    AND l.end_ps > $begin_ps
),

ops_of_runs AS (
  SELECT
    CASE WHEN s.args_json LIKE '%"run_id"%' THEN NULLIF(JSON_EXTRACT_STRING(s.args_json, '$.run_id'), '') END AS run,
    CASE WHEN l.class = 'copy' THEN 1 ELSE 0 END AS copies
  FROM _labelled_slice AS l
  INNER JOIN slice AS s ON s.id = l.slice_id
  WHERE $programs = 1 AND l.source_id = $source_id AND l.ts_ps < $end_ps AND l.end_ps > $begin_ps
),

runs AS (
  SELECT o.run, MIN(o.copies) AS only_copies
  FROM ops_of_runs AS o
  GROUP BY o.run
),

programs AS (
  SELECT
    s.ts_ps,
    s.ts_ps + s.dur_ps AS until_ps,
    CASE WHEN s.args_json LIKE '%"run_id"%' THEN NULLIF(JSON_EXTRACT_STRING(s.args_json, '$.run_id'), '') END AS run
  FROM slice AS s
  WHERE
    $programs = 1
    AND s.source_id = $source_id
    AND s.name IN ('ThunkExecutor::Execute', 'ThunkExecutor::Execute (wait for completion)')
    AND s.ts_ps < $end_ps
    AND s.ts_ps + s.dur_ps > $begin_ps
),

found AS (
  SELECT e.layer, e.from_ps, e.until_ps
  FROM executing AS e
  UNION ALL
  SELECT 'input python' AS beside, e.from_ps, e.until_ps
  FROM executing AS e
  WHERE e.layer = 'input work' AND e.type_or_name IN ('PyFunc', 'EagerPyFunc', 'PyFuncStateless')
  UNION ALL
  SELECT CASE WHEN r.only_copies = 1 THEN 'copy' ELSE 'compute' END AS layer, g.ts_ps AS from_ps, g.until_ps
  FROM programs AS g
  LEFT JOIN runs AS r ON r.run = g.run
  UNION ALL
  SELECT
    CASE
      WHEN w.wait = 'input' THEN 'input waits'
      WHEN w.wait = 'peers' OR w.name LIKE 'RecvTensor%' OR w.name LIKE 'recv-done%' THEN 'peer waits'
    END AS layer,
    w.ts_ps AS from_ps,
    w.end_ps AS until_ps
  FROM wait_slice AS w
  WHERE
    $waits = 1
    AND w.source_id = $source_id
    AND w.wait IN ('input', 'receive', 'peers')
    AND w.place <> 'device'
    AND w.ts_ps < $end_ps
    AND w.end_ps > $begin_ps
),

cut AS (
  SELECT
    f.layer,
    CASE WHEN f.from_ps < $begin_ps THEN $begin_ps ELSE f.from_ps END AS cut_from_ps,
    CASE WHEN f.until_ps > $end_ps THEN $end_ps ELSE f.until_ps END AS cut_until_ps
  FROM found AS f
  WHERE f.layer IS NOT NULL AND f.until_ps > f.from_ps
),

ordered AS (
  SELECT
    c.layer,
    c.cut_from_ps,
    c.cut_until_ps,
    MAX(c.cut_until_ps) OVER (
      PARTITION BY c.layer
      ORDER BY c.cut_from_ps NULLS LAST, c.cut_until_ps NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS covered_ps
  FROM cut AS c
),

islands AS (
  SELECT
    o.layer,
    o.cut_from_ps,
    o.cut_until_ps,
    SUM(CASE WHEN o.covered_ps IS NULL OR o.cut_from_ps > o.covered_ps THEN 1 ELSE 0 END) OVER (
      PARTITION BY o.layer
      ORDER BY o.cut_from_ps NULLS LAST, o.cut_until_ps NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS island
  FROM ordered AS o
)

SELECT i.layer, MIN(i.cut_from_ps) AS begin_ps, MAX(i.cut_until_ps) AS end_ps
FROM islands AS i
GROUP BY i.layer, i.island
ORDER BY i.layer NULLS LAST, begin_ps NULLS LAST

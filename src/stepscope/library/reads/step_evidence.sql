-- When ops, programs and waits held threads and devices
--
-- question: When, within a stretch of time, does something execute or wait, for each kind of it?
-- reads: slice, track, track_place, rollup_op, _labelled_slice, wait_slice
-- notes: What reaches into the stretch. An op is work of the input pipeline when it runs on its threads, reads files, or
--   lies in an executor that runs a function which the pipeline captured. Programs of XLA on processors run their bigger
--   ops in pieces on threads of a pool, most of which have no slice: the program's own slice lasts as long as it runs.
--   One that only copies counts as copying. The input's Python is part of its work.
-- order: there may be as many rows as slices, and the core makes the union of each layer, whatever comes first
-- parameters:
--   source_id | int | source to look at
--   place | text | where ops count: device or host
--   programs | int | 1 when programs of XLA on processors count, too
--   waits | int | 1 when threads that wait are looked for
--   by_name | int | 1 when slices of a track that are called alike are in one layer
--   captures | int | 1 when executors are looked for that run a captured function
--   file_readers | texts | types of ops that read the input
--   file_writers | texts | types of ops that write checkpoints and summaries
--   begin_ps | ps | begin of the stretch
--   end_ps | ps | its end
-- columns:
--   layer | text | class of op, input work, input python, wait, input waits or peer waits
--   begin_ps | ps | begin of the op, program or wait
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

labels AS (
  SELECT
    r.track_id,
    r.name,
    CASE WHEN $by_name = 1 THEN '' ELSE COALESCE(r.category, '') END AS category_key,
    CASE WHEN $by_name = 1 THEN '' ELSE COALESCE(r.op_name, '') END AS op_name_key,
    CASE WHEN $by_name = 1 THEN '' ELSE COALESCE(r.op_type, '') END AS op_type_key,
    COALESCE(r.op_type, r.op_name, r.name) AS type_or_name,
    CASE
      WHEN
        p.place = 'host' AND (t.name LIKE 'tf_data%' OR COALESCE(r.op_type, r.op_name, r.name) IN $file_readers)
        THEN 'input work'
      WHEN COALESCE(r.op_type, r.op_name, r.name) IN $file_writers THEN 'wait'
      WHEN r.class = 'collective' THEN 'communication'
      WHEN r.class IN ('compute', 'copy', 'compile', 'python') THEN r.class
    END AS own_layer
  FROM rollup_op AS r
  INNER JOIN track AS t ON t.id = r.track_id
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.source_id = $source_id AND r.is_op AND r.class <> 'wait' AND p.place = $place
),

-- Python of the input is in two layers: its labels are here twice, so that slices are read once.
layers AS (
  SELECT l.track_id, l.name, l.category_key, l.op_name_key, l.op_type_key, l.own_layer, 0 AS beside
  FROM labels AS l
  GROUP BY l.track_id, l.name, l.category_key, l.op_name_key, l.op_type_key, l.own_layer
  UNION ALL
  SELECT l.track_id, l.name, l.category_key, l.op_name_key, l.op_type_key, l.own_layer, 1 AS beside
  FROM labels AS l
  WHERE l.type_or_name IN ('PyFunc', 'EagerPyFunc', 'PyFuncStateless')
  GROUP BY l.track_id, l.name, l.category_key, l.op_name_key, l.op_type_key, l.own_layer
),

placed AS (
  SELECT
    CASE WHEN $place = 'host' AND o.id IS NOT NULL THEN 'input work' ELSE l.own_layer END AS counts_to,
    l.beside,
    s.ts_ps AS from_ps,
    s.ts_ps + s.dur_ps AS until_ps
  FROM slice AS s
  INNER JOIN layers AS l
    ON l.track_id = s.track_id
    AND l.name = s.name
    AND l.category_key = CASE WHEN $by_name = 1 THEN '' ELSE COALESCE(s.category, '') END
    AND l.op_name_key = CASE WHEN $by_name = 1 THEN '' ELSE COALESCE(s.op_name, '') END
    AND l.op_type_key = CASE WHEN $by_name = 1 THEN '' ELSE COALESCE(s.op_type, '') END
  LEFT JOIN captured_ops AS o ON o.id = s.id
  WHERE s.source_id = $source_id AND s.ts_ps < $end_ps AND s.ts_ps + s.dur_ps > $begin_ps
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
  SELECT
    CASE WHEN p.beside = 0 THEN p.counts_to WHEN p.counts_to = 'input work' THEN 'input python' END AS layer,
    p.from_ps,
    p.until_ps
  FROM placed AS p
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
)

SELECT f.layer, f.from_ps AS begin_ps, f.until_ps AS end_ps
FROM found AS f
WHERE f.layer IS NOT NULL AND f.until_ps > f.from_ps

-- Runs and hosts
--
-- question: What was recorded, where, and for how long?
-- reads: source, source_note, capture, step, device
-- notes: A step counts when averages include it. recorded_ps adds up captures made one after the
--   other, such as files of single steps; where one file holds several such steps, it adds up these
--   steps. Files that hold nothing but a graph tell what could run, not what ran, checkpoints tell what was
--   learned, and dumps what was compiled: they are counted in columns of their own, and neither in sources nor in
--   events.
-- columns:
--   run_id | text | Run | name of the run
--   host_id | text | Host | name of the host
--   producers | text | Written by | what wrote the sources; the first and the last where they differ
--   sources | int | Sources | files read, without checkpoints, dumps and those that hold only a graph
--   graphs | int | Graphs | files that hold only a graph
--   checkpoints | int | Checkpoints | checkpoints
--   dumps | int | Dumps | dump folders of XLA
--   devices | int | Devices | processors and accelerators named in them
--   events | int | Events | events stored, without nodes of graphs, tensors of checkpoints and files of dumps
--   events_lost | int | Lost | events seen but not stored
--   steps | int | Steps | steps that averages include
--   steps_left_out | int | Left out | steps that averages leave out
--   recorded_ps | ps | Recorded | from the first to the last event of each capture with times, added up
--   complete | bool | Complete | true when every source was read whole
WITH sources AS (
  SELECT
    columns!(o, run_id, host_id),
    MIN(CASE WHEN o.events_seen > 0 AND o.kind NOT IN ('graph', 'checkpoint', 'dump') THEN o.producer END)
      AS first_producer,
    MAX(CASE WHEN o.events_seen > 0 AND o.kind NOT IN ('graph', 'checkpoint', 'dump') THEN o.producer END)
      AS last_producer,
    MIN(o.producer) AS any_producer,
    SUM(CASE WHEN o.kind IN ('graph', 'checkpoint', 'dump') THEN 0 ELSE 1 END) AS source_count,
    sum_where!(o.kind = 'graph', 1) AS graph_count,
    sum_where!(o.kind = 'checkpoint', 1) AS checkpoint_count,
    sum_where!(o.kind = 'dump', 1) AS dump_count,
    SUM(CASE WHEN o.kind IN ('graph', 'checkpoint', 'dump') THEN 0 ELSE o.events_stored END) AS stored,
    SUM(o.events_lost) AS lost,
    SUM(CASE WHEN o.complete THEN 0 ELSE 1 END) AS incomplete
  FROM source AS o
  GROUP BY o.run_id, o.host_id
),

apart AS (
  SELECT a.source_id, SUM(a.dur_ps) AS apart_ps
  FROM step AS a
  WHERE a.recovered_from = 'file'
  GROUP BY a.source_id
),

captures AS (
  SELECT c.run_id, c.host_id, SUM(COALESCE(a.apart_ps, c.dur_ps)) AS total_ps
  FROM capture AS c
  LEFT JOIN apart AS a ON a.source_id = c.source_id
  WHERE c.source_id NOT IN (
    SELECT n.source_id FROM source_note AS n WHERE n.slug IN ('memory-without-times', 'samples-without-times')
  )
  GROUP BY c.run_id, c.host_id
),

steps AS (
  SELECT
    columns!(s, run_id, host_id),
    sum_where!(s.averaged, 1) AS kept,
    SUM(CASE WHEN s.averaged OR s.recovered_from = 'whole_capture' THEN 0 ELSE 1 END) AS left_out
  FROM step AS s
  GROUP BY s.run_id, s.host_id
),

devices AS (
  SELECT d.run_id, d.host_id, COUNT(DISTINCT d.name) AS device_count
  FROM device AS d
  GROUP BY d.run_id, d.host_id
)

SELECT
  columns!(o, run_id, host_id),
  CASE
    WHEN o.first_producer IS NULL THEN o.any_producer
    WHEN o.first_producer = o.last_producer THEN o.first_producer
    ELSE CONCAT(o.first_producer, ', ', o.last_producer)
  END AS producers,
  CAST(o.source_count AS BIGINT) AS sources,
  CAST(o.graph_count AS BIGINT) AS graphs,
  CAST(o.checkpoint_count AS BIGINT) AS checkpoints,
  CAST(o.dump_count AS BIGINT) AS dumps,
  COALESCE(d.device_count, 0) AS devices,
  CAST(o.stored AS BIGINT) AS events,
  CAST(o.lost AS BIGINT) AS events_lost,
  CAST(COALESCE(s.kept, 0) AS BIGINT) AS steps,
  CAST(COALESCE(s.left_out, 0) AS BIGINT) AS steps_left_out,
  CAST(COALESCE(c.total_ps, 0) AS BIGINT) AS recorded_ps,
  o.incomplete = 0 AS complete
FROM sources AS o
LEFT JOIN captures AS c ON c.run_id = o.run_id AND c.host_id = o.host_id
LEFT JOIN steps AS s ON s.run_id = o.run_id AND s.host_id = o.host_id
LEFT JOIN devices AS d ON d.run_id = o.run_id AND d.host_id = o.host_id
ORDER BY nulls_last!(o.run_id, o.host_id)

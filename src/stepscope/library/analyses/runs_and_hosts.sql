-- Runs and hosts
--
-- question: What was recorded, where, and for how long?
-- reads: source, capture, step, device
-- notes: A step counts when averages include it. recorded_ps adds up captures made one after the
--   other, such as files of single steps.
-- columns:
--   run_id | text | Run | name of the run
--   host_id | text | Host | name of the host
--   producers | text | Written by | what wrote the sources; the first and the last where they differ
--   sources | int | Sources | files read
--   devices | int | Devices | processors and accelerators named in them
--   events | int | Events | events stored
--   events_lost | int | Lost | events seen but not stored
--   steps | int | Steps | steps that averages include
--   steps_left_out | int | Left out | steps that averages leave out
--   recorded_ps | ps | Recorded | from the first to the last event of each capture, added up
--   complete | bool | Complete | true when every source was read whole
WITH sources AS (
  SELECT
    o.run_id,
    o.host_id,
    MIN(o.producer) AS first_producer,
    MAX(o.producer) AS last_producer,
    COUNT(*) AS source_count,
    SUM(o.events_stored) AS stored,
    SUM(o.events_lost) AS lost,
    SUM(CASE WHEN o.complete THEN 0 ELSE 1 END) AS incomplete
  FROM source AS o
  GROUP BY o.run_id, o.host_id
),

captures AS (
  SELECT c.run_id, c.host_id, SUM(c.dur_ps) AS total_ps
  FROM capture AS c
  GROUP BY c.run_id, c.host_id
),

steps AS (
  SELECT
    s.run_id,
    s.host_id,
    SUM(CASE WHEN s.averaged THEN 1 ELSE 0 END) AS kept,
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
  o.run_id,
  o.host_id,
  CASE
    WHEN o.first_producer = o.last_producer THEN o.first_producer
    ELSE CONCAT(o.first_producer, ', ', o.last_producer)
  END AS producers,
  o.source_count AS sources,
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
ORDER BY o.run_id NULLS LAST, o.host_id NULLS LAST

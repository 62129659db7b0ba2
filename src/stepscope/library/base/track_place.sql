-- What the rows of a timeline stand for
--
-- question: Which rows hold work, on which device, and which only show launches or marks?
-- reads: track, device, source
-- notes: A row named stream:all, or of a process memcpy, repeats what the streams of its device hold, so it is left
--   out wherever that device has other streams.
-- columns:
--   track_id | int | Track | number of the track
--   run_id, host_id, source_id
--   producer | text | Producer | what wrote the source
--   place | text | Place | device: work of an accelerator; host: work of a processor; launch: rows that show
--     launches; none: marks, counters, and rows derived from others, never added up
--   device | text | Device | name of the device, or of the process where no device is known
--   device_track_id | int | First track | least track of the same device and place: a number for both
--   device_kind | text | Device kind | cpu, gpu, tpu or unknown
--   track_kind | text | Track kind | kind of the track
--   track_name | text | Row | the row's own name
--   copies | bool | Copies | true for a device's row of copies, whatever these are called
WITH streams AS (
  SELECT
    s.id AS stream_id,
    s.source_id,
    COALESCE(s.device_id, -1) AS device_key,
    CASE
      WHEN s.name LIKE '%stream:all%' OR s.process LIKE '%stream:all%' OR s.process LIKE '%/memcpy%' THEN 1
      ELSE 0
    END AS repeats
  FROM track AS s
  WHERE s.kind = 'device_stream'
),

repeated AS (
  SELECT
    m.stream_id,
    m.repeats = 1 AND MIN(m.repeats) OVER (PARTITION BY m.source_id, m.device_key) = 0 AS of_others
  FROM streams AS m
),

placed AS (
  SELECT
    t.id AS track_id,
    columns!(t, run_id, host_id, source_id),
    o.producer,
    CASE
      WHEN t.kind IN ('async', 'counter', 'derived', 'compiler') OR t.records = 'annotation' THEN 'none'
      WHEN e.of_others THEN 'none'
      WHEN t.kind = 'device_stream' THEN 'device'
      WHEN t.records = 'dispatch' THEN 'launch'
      ELSE 'host'
    END AS place,
    COALESCE(d.name, t.process) AS device,
    COALESCE(d.kind, 'unknown') AS device_kind,
    t.kind AS track_kind,
    t.name AS track_name,
    t.kind = 'device_stream' AND t.process LIKE '%/memcpy%' AS shows_copies
  FROM track AS t
  INNER JOIN source AS o ON o.source_id = t.source_id
  LEFT JOIN device AS d ON d.id = t.device_id
  LEFT JOIN repeated AS e ON e.stream_id = t.id
)

SELECT
  columns!(p, track_id, run_id, host_id, source_id, producer, place, device),
  MIN(p.track_id) OVER (PARTITION BY p.source_id, p.place, p.device) AS device_track_id,
  columns!(p, device_kind, track_kind, track_name),
  p.shows_copies AND p.place = 'device' AS copies
FROM placed AS p

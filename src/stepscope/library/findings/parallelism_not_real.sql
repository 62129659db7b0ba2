-- Parallel rows, but hardly anything runs at once
--
-- question: Does a device show many rows of which hardly more than one works at a time?
-- reads: device_sum, track_sum, track_place, track
-- severity: low; from three rows, when fewer than 1.5 lanes or 1.1 streams are at work at once. Threads are
--   what they look like and are left out, as are lanes of files that have no rows: RunMetadata, profiles of tfprof.
-- impact: {device} is drawn as {rows_drawn} rows, but on average only {concurrency} rows work at once:
--   {impact_ps} of work runs one piece after the other.
-- action: Do not read the rows as parallel execution: a viewer packs ops into them, or they are streams
--   that wait for each other. On an accelerator, look at `launches` and at waits between streams.
-- weakened_by: lost, capped, truncated
-- reasoning: tf Timeline and similar tools pack ops into as many rows as they need so that no two overlap
--   in a row; streams wait for each other through events. Many rows then look like parallel work. How much
--   really runs at once is the time of all rows divided by the time in which any row works.
-- formula: concurrency = sum over rows of each row's busy time / union of the device's busy time; reported
--   from three rows, below 1.1 on a device or 1.5 on a host; threads are left out.
-- columns:
--   impact_ps | ps | One by one | time in which at least one row was at work
--   run_id, host_id, source_id
--   place | text | Place | device or host
--   device | text | Device | name of the device
--   rows_drawn | int | Rows | rows of the timeline that hold its work
--   concurrency | float | In parallel | mean number of rows at work while any is
WITH tracks AS (
  SELECT
    columns!(l, run_id, host_id, source_id, place, device),
    COUNT(DISTINCT a.origin) AS rows_drawn,
    SUM(l.sum_busy_ps) AS rows_ps
  FROM track_sum AS l
  INNER JOIN track_place AS p ON p.track_id = l.track_id
  INNER JOIN track AS a ON a.id = l.track_id
  WHERE p.track_kind IN ('lane', 'device_stream')
  GROUP BY columns!(l, run_id, host_id, source_id, place, device)
)

SELECT
  'low' AS severity,
  d.sum_busy_ps AS impact_ps,
  columns!(t, run_id, host_id, source_id, place, device, rows_drawn),
  share!(t.rows_ps, d.sum_busy_ps) AS concurrency
FROM tracks AS t
INNER JOIN device_sum AS d ON d.source_id = t.source_id AND d.place = t.place AND d.device = t.device
WHERE
  t.rows_drawn >= 3
  AND (
    (t.place = 'device' AND t.rows_ps * 10 < d.sum_busy_ps * 11)
    OR (t.place = 'host' AND t.rows_ps * 2 < d.sum_busy_ps * 3)
  )
ORDER BY nulls_last!(d.sum_busy_ps DESC, t.source_id, t.place, t.device)

-- Real concurrency
--
-- question: How many rows of a device are at work at once, compared with how many are drawn?
-- reads: device_sum, track_sum
-- notes: concurrency is the busy time of the rows added up, divided by the time in which any was busy: 1
--   means one after the other, however many rows a viewer shows. On lanes it says how many ops overlap,
--   which is an upper bound of what ran at once: ops that wait for each other overlap as well.
-- weakened_by: lost, capped, truncated, missing
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   place | text | Place | device or host
--   device | text | Device | name of the device
--   rows_drawn | int | Rows | rows of the timeline that hold its work
--   concurrency | float | In parallel | mean number of rows at work while any is
--   any_busy_ps | ps | Busy | time in which at least one row was at work
--   rows_busy_ps | ps | Rows' busy | busy times of the rows, added up
WITH tracks AS (
  SELECT
    l.run_id,
    l.host_id,
    l.source_id,
    l.place,
    l.device,
    COUNT(*) AS rows_drawn,
    SUM(l.sum_busy_ps) AS rows_ps
  FROM track_sum AS l
  GROUP BY l.run_id, l.host_id, l.source_id, l.place, l.device
)

SELECT
  t.run_id,
  t.host_id,
  t.source_id,
  t.place,
  t.device,
  t.rows_drawn,
  share!(t.rows_ps, d.sum_busy_ps) AS concurrency,
  d.sum_busy_ps AS any_busy_ps,
  CAST(t.rows_ps AS BIGINT) AS rows_busy_ps
FROM tracks AS t
INNER JOIN device_sum AS d ON d.source_id = t.source_id AND d.place = t.place AND d.device = t.device
ORDER BY nulls_last!(t.run_id, t.host_id, t.source_id, t.place, t.device)

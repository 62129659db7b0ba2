-- Longest idle gaps
--
-- question: When was a device idle longest, what came next, and what did the host wait for meanwhile?
-- reads: device_gap, slice, wait_slice
-- notes: The 20 longest gaps of each device within the window. cause is the wait that covers most of the
--   gap on the same host, when one covers at least half of it; NULL when no known wait does.
-- weakened_by: lost, capped, truncated, missing
-- columns:
--   run_id, host_id, source_id
--   place | text | Place | device or host
--   device | text | Device | device that was idle
--   begin_ps | ps | Begin | start of the gap, from the capture's origin
--   idle_ps | ps | Idle | its length
--   next_name | text | Ended by | slice that ended it; NULL at the window's end
--   next_step | int | In step | step in which that slice started
--   cause | text | Cause | name of the wait that covers most of it
WITH ranked AS (
  SELECT
    columns!(g, run_id, host_id, source_id, place, device, begin_ps, idle_ps, next_slice_id),
    ROW_NUMBER() OVER (
      PARTITION BY g.source_id, g.place, g.device
      ORDER BY nulls_last!(g.idle_ps DESC, g.begin_ps)
    ) AS place_in_list
  FROM device_gap AS g
),

longest AS (
  SELECT r.run_id, r.host_id, r.source_id, r.place, r.device, r.begin_ps, r.idle_ps, r.next_slice_id
  FROM ranked AS r
  WHERE r.place_in_list <= 20
),

shared AS (
  SELECT
    columns!(l, source_id, place, device, begin_ps, idle_ps),
    w.name AS wait_name,
    w.slice_id,
    least!(w.end_ps, l.begin_ps + l.idle_ps)
    - greatest!(w.ts_ps, l.begin_ps) AS shared_ps
  FROM longest AS l
  INNER JOIN wait_slice AS w
    ON w.source_id = l.source_id AND w.ts_ps < l.begin_ps + l.idle_ps AND w.end_ps > l.begin_ps
  WHERE w.place <> 'device'
),

causes AS (
  SELECT
    columns!(o, source_id, place, device, begin_ps, wait_name, idle_ps, shared_ps),
    ROW_NUMBER() OVER (
      PARTITION BY o.source_id, o.place, o.device, o.begin_ps
      ORDER BY nulls_last!(o.shared_ps DESC, o.slice_id)
    ) AS weight
  FROM shared AS o
)

SELECT
  columns!(l, run_id, host_id, source_id, place, device, begin_ps, idle_ps),
  s.name AS next_name,
  s.step AS next_step,
  c.wait_name AS cause
FROM longest AS l
LEFT JOIN slice AS s ON s.id = l.next_slice_id
LEFT JOIN causes AS c
  ON
    c.source_id = l.source_id
    AND c.place = l.place
    AND c.device = l.device
    AND c.begin_ps = l.begin_ps
    AND c.weight = 1
    AND c.shared_ps * 2 >= l.idle_ps
ORDER BY nulls_last!(l.idle_ps DESC, l.source_id, l.place, l.device, l.begin_ps)

-- The host blocks on the accelerator
--
-- question: How much of the steps does a host spend in calls that block until the device is done?
-- reads: step, step_wait, rollup_op, track_place, _busy_step
-- severity: medium from 25 % of the steps, low from 10 %
-- impact: For {sync_share} of the steps, {host_id} blocks on its device, in {waits} {waits:call|calls}. While it blocks
--   it launches nothing, so the device runs dry afterwards: it is idle for {idle_share} of the steps.
-- action: Read results less often: do not call .numpy(), .item() or print on tensors in each step, and log
--   only every hundredth step. Copy with non_blocking=True from pinned memory.
-- notes: Hosts are left out of whose accelerator no work was recorded: without one, waiting for a result is waiting for
--   the ops themselves, and where its work is missing, nothing shows that it is idle.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: A call that blocks until the device is done (fetching a value, synchronising a stream) keeps
--   the host from launching what comes next, so the device runs dry after it. Waiting for a busy device costs
--   nothing by itself.
-- formula: sync_share = length of the union of blocking calls (waits of the kind `device`) within the averaged steps /
--   sum of these steps' durations; idle_share = time of these steps in which nothing computes, communicates or is
--   copied, by step_part, likewise; impact = the lesser of both times; reported from 0.1 of the steps, medium from
--   0.25.
-- columns:
--   impact_ps | ps | Lost | time of the steps
--   run_id
--   host_id | text | Host | host that blocks
--   waits | int | Calls | calls that block
--   sync_share | ratio | Share of steps | blocking as part of the steps
--   idle_share | ratio | Device idle | time in which nothing executes as part of the steps
WITH blocked AS (
  SELECT
    columns!(s, run_id, host_id),
    SUM(s.dur_ps) AS all_ps,
    SUM(COALESCE(w.waited_ps, 0)) AS wait_ps,
    SUM(COALESCE(w.waits, 0)) AS number
  FROM step AS s
  LEFT JOIN step_wait AS w ON w.step_id = s.id AND w.wait = 'device'
  WHERE s.averaged
  GROUP BY s.run_id, s.host_id
),

accelerated AS (
  SELECT r.run_id, r.host_id
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.is_op AND p.place = 'device'
  GROUP BY r.run_id, r.host_id
),

lost AS (
  SELECT
    columns!(b, run_id, host_id, all_ps, wait_ps, number),
    i.idle_ps,
    least!(b.wait_ps, i.idle_ps) AS lost_ps
  FROM blocked AS b
  INNER JOIN accelerated AS a ON a.run_id = b.run_id AND a.host_id = b.host_id
  INNER JOIN _busy_step AS i ON i.run_id = b.run_id AND i.host_id = b.host_id
)

SELECT
  CASE WHEN l.lost_ps * 4 >= l.all_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(l.lost_ps AS BIGINT) AS impact_ps,
  columns!(l, run_id, host_id),
  CAST(l.number AS BIGINT) AS waits,
  share!(l.wait_ps, l.all_ps) AS sync_share,
  share!(l.idle_ps, l.all_ps) AS idle_share
FROM lost AS l
WHERE l.lost_ps * 10 >= l.all_ps AND l.lost_ps > 0
ORDER BY nulls_last!(l.lost_ps DESC, l.run_id, l.host_id)

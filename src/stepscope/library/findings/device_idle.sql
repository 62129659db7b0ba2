-- An accelerator is idle for much of the steps
--
-- question: Which accelerators have nothing to do for a good part of the window?
-- reads: device_gap, step_window
-- severity: high from 50 % idle, medium from 20 %; medium at most where no steps were found
-- impact: {device} is idle for {idle_share} of the window, {impact_ps} in all; the longest gap is
--   {longest_ps}.
-- action: Look at `idle_gaps` for what ends each gap and what the host waits for meanwhile. One long gap a
--   step points to input or to a blocking call; very many short ones point to launches that come too late.
-- weakened_by: lost, capped, truncated, missing
-- columns:
--   severity | text | Severity | high or medium
--   impact_ps | ps | Idle | idle time within the window
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   device | text | Device | name of the device
--   idle_share | ratio | Idle share | idle time as part of the window
--   longest_ps | ps | Longest gap | longest stretch without work
--   gaps | int | Gaps | stretches without work
WITH devices AS (
  SELECT
    g.run_id,
    g.host_id,
    g.source_id,
    g.device,
    SUM(g.idle_ps) AS sum_ps,
    MAX(g.idle_ps) AS longest_ps,
    COUNT(*) AS gaps
  FROM device_gap AS g
  WHERE g.place = 'device'
  GROUP BY g.run_id, g.host_id, g.source_id, g.device
)

SELECT
  CASE WHEN d.sum_ps * 2 >= w.until_ps - w.begin_ps AND w.steps > 0 THEN 'high' ELSE 'medium' END AS severity,
  CAST(d.sum_ps AS BIGINT) AS impact_ps,
  d.run_id,
  d.host_id,
  d.source_id,
  d.device,
  CAST(d.sum_ps AS DOUBLE) / NULLIF(w.until_ps - w.begin_ps, 0) AS idle_share,
  d.longest_ps,
  d.gaps
FROM devices AS d
INNER JOIN step_window AS w ON w.source_id = d.source_id
WHERE d.sum_ps * 5 >= w.until_ps - w.begin_ps
ORDER BY d.sum_ps DESC NULLS LAST, d.source_id NULLS LAST, d.device NULLS LAST
